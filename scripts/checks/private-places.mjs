/** Checks that no committed file holds a path of one machine, or the host of a package registry. */

import { homedir } from "node:os";

const literally = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Where this clone and this user's files are, and where such things are on other machines. */
function machinePaths(root) {
  const own = [root, homedir()].filter((path) => path.length > 1).map(literally);
  return new RegExp(`(?<![\\w.~-])(?:${own.join("|")}|/(?:root|work|workspace|builds))/[\\w.-]+`);
}

/** The public registry of MCP servers is part of the protocol's world, and no package registry. */
const REGISTRY_HOST =
  /https?:\/\/(?!registry\.modelcontextprotocol\.io)[^/\s"'`]*(?:registry|npmmirror|artifactory|nexus|verdaccio|pypi)[^/\s"'`]*/;
const RESOLVED = /"resolved":\s*"https?:/;

export function checkPrivatePlaces(root, sources) {
  const paths = machinePaths(root);
  const problems = [];
  for (const [file, text] of sources) {
    text.split("\n").forEach((line, index) => {
      const at = `${file}:${index + 1}`;
      const path = paths.exec(line)?.[0];
      if (path) problems.push(`${at}: "${path}" is a path of one machine; write it relative`);
      if (RESOLVED.test(line)) {
        problems.push(
          `${at}: the lockfile names a host; npm config set omit-lockfile-registry-resolved true`,
        );
      } else {
        const host = REGISTRY_HOST.exec(line)?.[0];
        if (host) problems.push(`${at}: "${host}" is a package registry; leave its address out`);
      }
    });
  }
  return problems;
}
