// The JavaScript side of validation.py: reads one job a line, answers with seconds per round.
// Usage: node validation.mjs FOLDER, where FOLDER holds node_modules with mcp-use, ajv and ajv-formats.

import { createInterface } from "node:readline";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(pathToFileURL(`${process.argv[2]}/package.json`));
const Ajv = require("ajv/dist/2020").default;
const addFormats = require("ajv-formats").default;
const { getDefaults, validate } = require("mcp-use/client");

const shared = addFormats(new Ajv({ strict: false, allErrors: true }));
const jobs = {
  "mcp-use": ({ params, content }) => ({ ...getDefaults(params), ...content }) && validate(params, content),
  "ajv cold": ({ params, content }) =>
    addFormats(new Ajv({ strict: false, allErrors: true })).compile(params.requestedSchema)(content),
  "ajv shared": ({ params, content }) => {
    const schema = structuredClone(params.requestedSchema); // a schema that it has not seen
    const verdict = shared.compile(schema)(content);
    shared.removeSchema(schema);
    return verdict;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { job, params, content, rounds } = JSON.parse(line);
  let seconds = null;
  try {
    const begin = performance.now();
    for (let round = 0; round < rounds; round++) jobs[job]({ params, content });
    seconds = (performance.now() - begin) / 1000 / rounds;
  } catch {
    // It cannot: the answer is null.
  }
  console.log(JSON.stringify(seconds));
}
