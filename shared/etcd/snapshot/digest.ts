// The sha256 that etcd appends to a snapshot, held against the bytes before it.
import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import type { Bytes } from './bytes.ts';
import { Damage } from './damage.ts';

export const DIGEST_BYTES = 32;
/** As the blocks that are read, so that each of them is read once. */
const STEP_BYTES = 128 * 1024;
const STEPS_PER_TURN = 64;

export async function checkDigest(
  bytes: Bytes,
  sizeBytes: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const end = sizeBytes - DIGEST_BYTES;
  const hash = createHash('sha256');
  for (let at = 0; at < end; at += STEP_BYTES) {
    hash.update(bytes.page(at, Math.min(STEP_BYTES, end - at)));
    if ((at / STEP_BYTES) % STEPS_PER_TURN === 0) {
      await setImmediate();
      signal?.throwIfAborted();
    }
  }
  const said = bytes.copy(end, DIGEST_BYTES).toString('hex');
  const found = hash.digest('hex');
  if (found === said) return;
  throw new Damage(end, `its bytes have the sha256 ${found}, and it says ${said} of itself`);
}
