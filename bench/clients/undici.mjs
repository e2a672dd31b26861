/**
 * The floor of HTTP clients: an `undici` Pool that posts the bytes that ours posts, and parses what comes back. Argument
 * `request`: by its promises; `dispatch`: by its lowest layer, as ours does.
 */

import { Pool } from "undici";
import { echo, metadataHeaders, requestWriter } from "../messages.mjs";
import { calling, revision, target } from "./calling.mjs";

const { origin, pathname: path } = new URL(target.url);
const pool = new Pool(origin, { connections: 64, headersTimeout: 0, bodyTimeout: 0 });
const write = requestWriter(echo, revision);
const headers = Object.entries({
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  ...metadataHeaders(revision, echo.method, echo.name),
}).flat();

async function byRequest(_args, n) {
  const { body } = await pool.request({ path, method: "POST", headers, body: write(n) });
  return (await body.json()).result;
}

function byDispatch(_args, n) {
  return new Promise((resolve, reject) => {
    const chunks = [];
    pool.dispatch(
      { path, method: "POST", headers, body: write(n) },
      {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData: (_controller, chunk) => chunks.push(chunk),
        onResponseEnd: () => resolve(JSON.parse(Buffer.concat(chunks).toString()).result),
        onResponseError: (_controller, error) => reject(error),
      },
    );
  });
}

calling(process.argv[4] === "dispatch" ? byDispatch : byRequest);
