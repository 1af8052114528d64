// When servers answered last: kept in memory by the millisecond, and told in the status only when
// something else of a server changes. Pure.
import { timestamp } from '../kube/timestamp.ts';

/** As far as this instance knows, in milliseconds, by the names of servers. */
export type Contacts = ReadonlyMap<string, number>;

interface Contacted {
  readonly lastContact?: string;
}

/** The time of the contact moves with the rest alone: a clock would be a write each minute. */
export function withContact<Server extends Contacted>(
  before: Server | undefined,
  now: Server,
  nowMs: number,
): Server {
  const { lastContact = timestamp(nowMs), ...rest } = before ?? {};
  const isSame = JSON.stringify(sortedFields(rest)) === JSON.stringify(sortedFields(now));
  return { ...now, lastContact: isSame ? lastContact : timestamp(nowMs) };
}

const sortedFields = (fields: object): readonly (readonly [string, unknown])[] =>
  Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1));

/** Unchanged while a server stays silent; when it has just fallen silent, its last contact. */
export function silentSince(
  before: (Contacted & { readonly wasHeard: boolean }) | undefined,
  contactMs: number | undefined,
  nowMs: number,
): string | undefined {
  if (before === undefined) return undefined;
  return before.wasHeard ? timestamp(contactMs ?? nowMs) : before.lastContact;
}
