/** Tools that ask the client, made with Patchbay: the same code in both eras. */

import { tell, told } from "./happenings.mjs";
import * as offer from "./offer.mjs";

export function offerQuestions(server) {
  server
    .tool("ask_form", {}, async (_, ctx) => offer.answerOf(await ctx.elicit("Book", offer.FORM)))
    .tool("ask_page", {}, async (_, ctx) => offer.answerOf(await ctx.elicit("Choose", new URL(offer.PAGE))))
    .tool("ask_twice", {}, async (_, ctx) => {
      const first = await ctx.elicit("Your name?", offer.NAME_FORM);
      const { name } = first.content;
      const second = await ctx.elicit(`${name}, how many seats?`, offer.SEATS_FORM);
      return `${second.content.seats} for ${name}`;
    })
    .tool("ask_together", {}, async (_, ctx) => {
      const [first, answer, roots] = await Promise.all([
        ctx.elicit("Your name?", offer.NAME_FORM),
        ctx.sample(offer.SAMPLE),
        ctx.roots(),
      ]);
      return `${first.content.name}, ${offer.textOf(answer)}, ${roots.length}`;
    })
    .tool("ask_model", {}, async (_, ctx) => {
      const answer = await ctx.sample(offer.SAMPLE);
      return `${answer.model}: ${offer.textOf(answer)}`;
    })
    .tool("ask_model_with_tools", {}, async (_, ctx) => {
      const use = await ctx.sample(offer.SAMPLE_WITH_TOOLS);
      return offer.textOf(await ctx.sample(offer.withToolResult(use)));
    })
    .tool("ask_roots", {}, async (_, ctx) => offer.rootsOf(await ctx.roots()))
    .tool("rehearse", { task: true }, async (_, ctx) => {
      ctx.status("Act one");
      return offer.answerOf(await ctx.elicit("Book", offer.FORM));
    });
}

/** A call that lets go of its connection between two steps. */
export function offerDetaching(server) {
  server.tool(
    "detach",
    { input: { type: "object", properties: { key: { type: "string" } } } },
    async ({ key }, ctx) => {
      ctx.progress(1, 3, "step 1");
      await told(`${key} 1`);
      ctx.detach(20);
      ctx.progress(2, 3, "step 2");
      tell(`${key} detached`);
      await told(`${key} 2`);
      ctx.progress(3, 3, "step 3");
      await told(`${key} 3`);
      return "came back";
    },
  );
}
