// Shows a replica on a stream of lines: as it goes on, or once.
import type { Replica } from '../../../../shared/nats/replica/replica.ts';
import type { Scope } from '../../../../shared/nats/replica/scope.ts';
import type { ReplicaState } from '../../../../shared/nats/replica/state.ts';
import type { Lines } from './lines.ts';
import { whyUnknown } from './place.ts';

export interface WatchOutput {
  readonly lines: Lines;
  /** Resolves when it may be called again: the replica waits for nobody, but memory would fill. */
  readonly write: (line: string) => Promise<void>;
  /** For what is said beside the matter. */
  readonly note: (line: string) => void;
}

/** Ends with the signal. */
export async function showChanges(
  replica: Replica,
  { lines, write }: WatchOutput,
  signal: AbortSignal,
): Promise<void> {
  const stop = watchPhases(replica, (state) => void write(lines.state(state, Date.now())));
  try {
    for await (const change of replica.changes(signal)) {
      await write(lines.change(change, Date.now()));
    }
  } finally {
    stop();
  }
}

/**
 * Shows the content at one moment at which it is current; fails when the feed knows no such place.
 */
export async function showOnce(
  replica: Replica,
  scope: Scope,
  { lines, write, note }: WatchOutput,
  signal: AbortSignal,
): Promise<void> {
  const stop = watchPhases(replica, (state) => note(lines.state(state, Date.now())));
  try {
    await replica.whenCurrent({ signal });
  } finally {
    stop();
  }
  refuseUnknown(replica, scope);
  const entries = [...replica.catalog.entries()].toSorted((a, b) =>
    a.subject < b.subject ? -1 : 1,
  );
  for (const entry of entries) {
    signal.throwIfAborted();
    const { version } = entry;
    await write(lines.change({ type: 'added', version, entry }, Date.now()));
  }
}

/** Asked of a replica that is current. */
export function refuseUnknown(replica: Replica, scope: Scope): void {
  const why = whyUnknown(scope, [...replica.catalog.entries()]);
  if (why !== undefined) throw new Error(why);
}

function watchPhases(replica: Replica, show: (state: ReplicaState) => void): () => void {
  let shown = '';
  const showChange = (state: ReplicaState): void => {
    const now = `${state.phase} ${state.isStale ?? false} ${state.why ?? ''}`;
    if (now !== shown) show(state);
    shown = now;
  };
  showChange(replica.state);
  return replica.watchState(showChange);
}
