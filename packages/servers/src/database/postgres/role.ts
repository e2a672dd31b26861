/** Whether a role is one that may be served: its own rights are the wall that no statement gets over. */

import type { Client, QueryResult } from "pg";
import { DatabaseError } from "../limits.ts";

/** Roles whose members read and write files of the server's machine, or run programs there. */
const REACHING = `
  SELECT rolname, rolsuper FROM pg_roles
  WHERE pg_has_role(session_user, oid, 'MEMBER')
    AND (rolsuper OR rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program'))
  ORDER BY rolsuper DESC LIMIT 1`;

/** @throws DatabaseError for a superuser and its like, which says what to do */
export async function checkRole(client: Client): Promise<void> {
  const { rows }: QueryResult<{ rolname: string; rolsuper: boolean }> = await client.query(REACHING);
  const [role] = rows;
  if (role === undefined) return;
  const what = role.rolsuper ? "is a superuser, or can become one" : `is a member of ${role.rolname}`;
  throw new DatabaseError(
    `the role that this server connects as ${what}, so that SQL could reach files and programs of the database's machine. Its operator should use a role that may read what is wanted and no more (GRANT pg_read_all_data, or SELECT on some tables), or allow this one with --allow-superuser`,
  );
}
