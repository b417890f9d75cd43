// A session of the official TypeScript client with the server named on the command line; prints what it met as one line of JSON.
// Run from a folder where `npm install @modelcontextprotocol/client` was done: node --input-type=module -e "$(cat this file)" - MODE COMMAND...
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, command, ...args] = process.argv.slice(2);
const pinned = /^\d/.test(mode) ? { pin: mode } : mode;
const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: pinned } });
await client.connect(new StdioClientTransport({ command, args }));
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const taken = new AbortController();
const slow = client.callTool({ name: "search_inside", arguments: { query: "slow 30" } }, { signal: taken.signal }).catch(() => "aborted");
setTimeout(() => taken.abort(), 300);
const cancelled = await slow;
const failed = await client.callTool({ name: "search_inside", arguments: { query: "fail" } });
const item = (await client.readResource({ uri: "books://item/archive:x" })).contents[0].text;
const prompts = (await client.listPrompts()).prompts.map((prompt) => prompt.name);
const closing = Date.now();
await client.close();
console.log(JSON.stringify({ tools, cancelled, failed: [failed.isError, failed.content[0].text], item, prompts, closed: Date.now() - closing < 2000 }));
