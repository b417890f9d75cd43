// A session of the official TypeScript client with the door at the address named; prints what it met as one line of JSON.
// Run from a folder where `npm install @modelcontextprotocol/client` was done: node --input-type=module -e "$(cat this file)" - MODE ADDRESS
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [mode, address] = process.argv.slice(2);
const pinned = /^\d/.test(mode) ? { pin: mode } : mode;
const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: pinned } });
await client.connect(new StreamableHTTPClientTransport(new URL(address)));
const tools = (await client.listTools()).tools.map((tool) => tool.name);
const question = { name: "search_inside", arguments: { query: "a wet fog" } };
const found = await Promise.all(Array.from({ length: 8 }, () => client.callTool(question)));
const refused = await client.callTool({ name: "search_inside", arguments: { nonsense: 1 } });
const item = await client.readResource({ uri: "books://item/archive:capemarrowlog00fenw" });
const ref = { type: "ref/resource", uri: "books://item/{+identifier}" };
const { completion } = await client.complete({ ref, argument: { name: "identifier", value: "gal" } });
await client.close();
console.log(JSON.stringify({ tools, hits: found.map((answer) => answer.structuredContent.hits.length), refused: refused.isError,
  item: item.contents.map((content) => content.mimeType), completion: completion.values }));
