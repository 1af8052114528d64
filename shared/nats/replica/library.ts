// The exports of `ballast/replica` for other programs. Only the client of NATS is loaded at once: a
// program that embeds a replica is about to connect.
// oxlint-disable-next-line import/no-unassigned-import -- loading it is all that is wanted
import '../client.ts';

export { accessFiles } from '../access.ts';
export type { AccessSource, NatsAccess } from '../access.ts';
export { openReplica } from './replica.ts';
export type { Replica, ReplicaCounts, ReplicaOptions } from './replica.ts';
export type { Bookmark } from './bookmark.ts';
export type { Catalog, CompletionOptions } from './catalog.ts';
export type { Change } from './changes.ts';
export type { Entry } from './entry.ts';
export type { Holder } from './history.ts';
export type { Completion } from './names.ts';
export type { Scope } from './scope.ts';
export type { Selection } from './selector.ts';
export { parseSelector } from './selector.ts';
export type { Requirement } from './selector.ts';
export type { Phase, ReplicaState } from './state.ts';
