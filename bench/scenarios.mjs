/** What is measured, in the order in which it is. To add a table, write a scenario and name it here. */

import { authorized } from "./scenarios/authorized.mjs";
import { clients } from "./scenarios/clients.mjs";
import { echoes } from "./scenarios/echo.mjs";
import { instances } from "./scenarios/instances.mjs";
import { largeMessages } from "./scenarios/large.mjs";
import { sessionMemory } from "./scenarios/memory.mjs";
import { servers } from "./scenarios/servers.mjs";
import { starts } from "./scenarios/start.mjs";
import { workloads } from "./scenarios/workloads.mjs";

/**
 * @typedef {object} Scenario
 * @property {string} name
 * @property {string} title
 * @property {import("./contenders.mjs").Contender[]} contenders
 * @property {Measured} measured how, and as what it is shown
 * @property {import("./targets.mjs").Target[]} [targets]
 */

/**
 * @typedef {object} Measured
 * @property {{ head: string, cell: (row: any) => string | undefined }[]} columns
 * @property {(rows: any[]) => string[]} [notes]
 * @property {(scenario: Scenario, plan: import("./run.mjs").Plan, tell: (progress: string) => void) => Promise<any[]>} measure
 */

/** @type {Scenario[]} */
export const scenarios = [
  ...echoes,
  ...workloads,
  ...instances,
  authorized,
  ...clients,
  starts,
  sessionMemory,
  largeMessages,
  ...servers,
];
