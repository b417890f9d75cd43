// A picture received by the official TypeScript client from the server named on the command line, as one line of JSON.
// Run as official_client.mjs is; the arguments of read_text come last.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, command, program, given] = process.argv.slice(2);
const pinned = /^\d/.test(mode) ? { pin: mode } : mode;
const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: pinned } });
await client.connect(new StdioClientTransport({ command, args: [program], env: process.env }));
const result = await client.callTool({ name: "read_text", arguments: JSON.parse(given) });
const [, picture] = result.content, bytes = Buffer.from(picture.data, "base64");
await client.close();
console.log(JSON.stringify({ types: result.content.map((block) => block.type), mimeType: picture.mimeType, bytes: bytes.length,
  begins: bytes.subarray(0, 8).toString("hex"), told: result.structuredContent.picture }));
