/** Asking the user before something is changed. */

import type { Context } from "@patchbay/server";
import { z } from "zod";
import { DatabaseError } from "./limits.ts";
import type { Parameters } from "./values.ts";

const Answer = z.object({
  run: z.boolean().describe("Run this statement"),
});

/**
 * Asks whether a statement may be run, all of which is shown.
 *
 * @throws DatabaseError when the user says no, or cannot be asked
 */
export async function askToRun(
  engine: string,
  sql: string,
  parameters: Parameters,
  ctx: Context,
): Promise<void> {
  if (!canBeAsked(ctx)) {
    throw new DatabaseError(
      "execute asks the user before it changes anything, and this client cannot ask (it does not declare the capability elicitation). Nothing was changed. Show the user the statement, to be run elsewhere",
    );
  }
  const values =
    Object.keys(parameters).length === 0 ? "" : `\n\nwith ${visible(JSON.stringify(parameters))}`;
  const answer = await ctx.elicit(`Run this in the ${engine} database?\n\n${visible(sql)}${values}`, Answer);
  if (answer.action === "accept" && answer.content.run) return;
  throw new DatabaseError(
    answer.action === "cancel"
      ? "the user closed the question without an answer. Nothing was changed"
      : "the user does not want this statement to be run. Nothing was changed",
  );
}

/** Before 2025-11-25 forms were all there was, and had no name of their own. */
function canBeAsked({ client }: Context): boolean {
  const { elicitation } = client.capabilities;
  return elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined);
}

/** With what nobody sees, or what changes the order of what they see, spelled out. */
function visible(text: string): string {
  return text.replaceAll(
    /[^\P{C}\n\t]|[\u2028\u2029\u115f\u1160\u3164\uffa0]|\p{Variation_Selector}/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
