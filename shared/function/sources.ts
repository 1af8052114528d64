// The types of the events that Knative's sources send: what functions wake on.

const changed = (verb: 'add' | 'update' | 'delete'): string =>
  `dev.knative.apiserver.resource.${verb}`;

export const DELETED = changed('delete');
/** ApiServerSource: an object was added, changed or deleted. */
export const CHANGES: readonly string[] = [changed('add'), changed('update'), DELETED];
/** In `wakesOn`: whatever comes, for a function that asks how events fared. */
export const EVERY_TYPE = '*';
/** PingSource: the sweep is due. */
export const SWEEP = 'dev.knative.sources.ping';
