// The view in a real browser, under the official host bridge: node view.mjs NODE_FOLDER INPUT.json SCREENSHOTS
//
// NODE_FOLDER holds node_modules with @modelcontextprotocol/ext-apps, playwright-core, axe-core and esbuild. INPUT.json is
// {page, answers: {name: {arguments, result}}, documents: {name: html}}. What was seen is printed as one JSON object.
import { createRequire } from "node:module";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [, , folder, input, shots] = process.argv;
const require = createRequire(join(folder, "package.json"));
const { chromium } = require("playwright-core");
const esbuild = require("esbuild");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf-8");
const { page: view, answers, documents } = JSON.parse(readFileSync(input, "utf-8"));

const HOST = `
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";
window.host = async (view, given) => {
  const seen = { opened: [], called: [], said: [], sizes: 0, initialized: false };
  document.querySelectorAll("iframe").forEach(old => old.remove());
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts"); frame.style.cssText = "width:100%;height:900px;border:0"; frame.name = given.frame;
  document.body.append(frame);
  const bridge = new AppBridge(null, { name: "host", version: "1" }, { openLinks: {}, serverTools: {}, message: { text: {} } }, { hostContext: { theme: "light" } });
  bridge.onopenlink = async params => { seen.opened.push(params.url); return {}; };
  bridge.oncalltool = async params => { seen.called.push(params); return given.next || { content: [{ type: "text", text: "called" }] }; };
  bridge.onmessage = async params => { seen.said.push(params); return {}; };
  bridge.onsizechange = () => { seen.sizes += 1; };
  const ready = new Promise(done => { bridge.oninitialized = () => { seen.initialized = true; done(); }; });
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  frame.srcdoc = view;
  await ready;
  await bridge.sendToolInput({ arguments: given.arguments });
  await bridge.sendToolResult(given.result);
  window.bridge = bridge; window.seen = seen;
};`;

const built = mkdtempSync(join(folder, "host-"));
writeFileSync(join(built, "host.js"), HOST);
const { outputFiles } = await esbuild.build({ entryPoints: [join(built, "host.js")], bundle: true, write: false, format: "iife", nodePaths: [join(folder, "node_modules")] });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: [
  "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"] });
const told = { errors: [], asked: [], answers: {}, documents: {} };

async function opened(options = {}) {
  const context = await browser.newContext({ viewport: { width: 800, height: 900 }, ...options });
  await context.route("**", route => { told.asked.push(route.request().url()); route.abort(); });
  const page = await context.newPage();
  page.on("pageerror", error => told.errors.push(String(error)));
  page.on("console", message => { if (message.type() === "error" && !message.text().includes("ERR_FAILED")) told.errors.push(message.text()); });
  return page;
}

// ---- each answer in the host's frame
const page = await opened();
await page.setContent("<!DOCTYPE html><title>host</title><body></body>");
await page.addScriptTag({ content: outputFiles[0].text });
for (const [name, given] of Object.entries(answers)) {
  await page.evaluate(([view, given]) => window.host(view, given), [view, { ...given, frame: name }]);
  const frame = page.frame({ name });
  await frame.waitForSelector("h1");
  const seen = { text: (await frame.evaluate(() => document.body.innerText)).slice(0, 20000), title: await frame.title() };
  seen.scripts = await frame.evaluate(() => document.querySelectorAll("main script, main img[onerror]").length);
  seen.cards = await frame.evaluate(() => document.querySelectorAll(".cards > li").length);
  await page.evaluate(() => window.bridge.setHostContext({ theme: "dark" }));
  await frame.waitForFunction(() => document.documentElement.dataset.theme === "dark");
  const anchor = await frame.$("main a");
  if (anchor) { await anchor.click(); await page.waitForFunction(() => window.seen.opened.length); }
  const button = await frame.$("button:has-text('Read')");
  if (button && !given.quiet) { await button.click(); await page.waitForFunction(() => window.seen.called.length); }
  await page.evaluate(() => window.bridge.teardownResource({}));
  Object.assign(seen, await page.evaluate(() => window.seen));
  told.answers[name] = seen;
}

// ---- each document alone: accessibility in both themes, three widths, no room to the side
for (const [name, html] of Object.entries(documents)) {
  const seen = { violations: [], overflow: [] };
  for (const colorScheme of ["light", "dark"]) {
    const alone = await opened({ colorScheme });
    await alone.setContent(html);
    await alone.waitForSelector("h1");
    await alone.evaluate(axe);
    const found = await alone.evaluate(() => window.axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
    seen.violations.push(...found.violations.map(one => colorScheme + ": " + one.id + ": " + one.nodes.slice(0, 2).map(node => node.target.join(" ")).join(", ")));
    for (const width of [320, 800, 1400]) {
      await alone.setViewportSize({ width, height: 900 });
      if (await alone.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth)) seen.overflow.push(width);
      if (shots) await alone.screenshot({ path: join(shots, name + "-" + colorScheme + "-" + width + ".png") });
    }
    await alone.context().close();
  }
  told.documents[name] = seen;
}
await browser.close();
console.log(JSON.stringify(told));
