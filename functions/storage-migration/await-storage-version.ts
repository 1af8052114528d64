// Whether the flip of the stored version has come everywhere. Discovery says what an API server
// announces, and may run ahead of what it writes for a moment: so every one of them has to announce
// the current version, and to have done so for a while.
import { ApiServers } from '../../shared/kube/servers.ts';
import type { Deps } from './deps.ts';
import type { Target } from './observe.ts';

const POLL_MS = 250;

export interface Settled {
  /** Undefined once it is so; what is lacking when this request may not wait any longer. */
  readonly lacking: string | undefined;
  /** Whether any of them was seen to lack it. */
  readonly isNews: boolean;
}

export async function awaitStorageVersion(
  { kube, openServer, clock, settleMs }: Deps,
  target: Target,
  endsAtMs: number,
  signal: AbortSignal,
): Promise<Settled> {
  const servers = await ApiServers.find({ kube, openServer, signal });
  try {
    let isNews = false;
    for (let sinceMs: number | undefined; ;) {
      const lacking = await servers.lacking(target, signal);
      isNews ||= lacking !== undefined;
      const nowMs = clock.nowMs();
      sinceMs = lacking === undefined ? (sinceMs ?? nowMs) : undefined;
      if (sinceMs !== undefined && nowMs - sinceMs >= settleMs) {
        return { lacking: undefined, isNews };
      }
      // Where all agree the rest of the wait is shorter than coming here once more may take.
      if (lacking !== undefined && nowMs > endsAtMs) return { lacking, isNews };
      await clock.sleep(POLL_MS, signal);
    }
  } finally {
    await servers.close();
  }
}
