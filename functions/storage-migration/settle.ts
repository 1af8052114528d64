// Whether the flip of the stored version has come everywhere. Discovery says what an API server
// announces, and may run ahead of what it writes for a moment: so every one of them has to announce
// the current version, and to have done so for a while.
import { ApiServers } from '../../shared/kube/servers.ts';
import type { Doors } from './doors.ts';
import type { Target } from './target.ts';

const POLL_MS = 250;

/** Undefined once it is so; what is lacking when this request may not wait any longer. */
export async function awaitSettled(
  { kube, openServer, clock, settleMs }: Doors,
  target: Target,
  endsAtMs: number,
  signal: AbortSignal,
): Promise<string | undefined> {
  const servers = await ApiServers.find({ kube, openServer, signal });
  try {
    for (let sinceMs: number | undefined; ;) {
      const lacking = await servers.lacking(target, signal);
      const nowMs = clock.nowMs();
      sinceMs = lacking === undefined ? (sinceMs ?? nowMs) : undefined;
      if (sinceMs !== undefined && nowMs - sinceMs >= settleMs) return undefined;
      if (nowMs > endsAtMs) return lacking ?? 'All API servers agree only since a moment ago.';
      await clock.sleep(POLL_MS, signal);
    }
  } finally {
    await servers.close();
  }
}
