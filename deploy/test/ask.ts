/** One HTTP request as its bytes are: any method, any headers, on a connection of its own. */

import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";

export interface Answered {
  status: number | undefined;
  headers: IncomingMessage["headers"];
  body: string;
}

export async function ask(
  url: string,
  { method = "GET", headers = {}, body }: { method?: string; headers?: object; body?: string } = {},
): Promise<Answered> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const sent = request(url, { method, agent: false, headers: { ...headers } }, resolve);
    sent.once("error", reject).end(body);
  });
  return { status: response.statusCode, headers: response.headers, body: await text(response) };
}
