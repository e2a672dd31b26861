/** What LangGraph Studio opens (langgraph.json): the host with the model and the servers of this folder. */

import { hostAgent as open } from "patchbay/studio";

/** The graph `host_agent`. */
export async function hostAgent() {
  return open();
}
