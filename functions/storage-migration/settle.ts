// Whether the flip of the stored version has come everywhere. Discovery says what an API server
// announces, and may run ahead of what it writes for a moment: so every one of them has to announce
// the current version, and to have done so for a while.
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Doors } from './doors.ts';
import { type Target, saysStored, servedResource } from './target.ts';

const POLL_MS = 250;

/** Waits until it is so, for as long as this request may work. */
export async function awaitSettled(
  doors: Doors,
  target: Target,
  endsAtMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const { clock, kube, settleMs } = doors;
  let sinceMs: number | undefined;
  for (;;) {
    const isAnnounced = await announces(kube, target, signal);
    const nowMs = clock.nowMs();
    sinceMs = isAnnounced ? (sinceMs ?? nowMs) : undefined;
    if (sinceMs !== undefined && nowMs - sinceMs >= settleMs) return true;
    if (nowMs > endsAtMs) return false;
    await clock.sleep(POLL_MS, signal);
  }
}

async function announces(kube: KubeClient, target: Target, signal: AbortSignal): Promise<boolean> {
  return saysStored(await servedResource(kube, target.ref, signal), target);
}
