// Functions that are woken by hand, as their source of pings does.
import { systemClock } from '../../../shared/clock.ts';
import { SWEEP } from '../../../shared/function/sources.ts';
import { sendEvent } from '../../builders/send-event.ts';

const EVERY_MS = 300;

/** Again and again until the signal, each by itself. */
export async function keepSweeping(ports: readonly number[], signal: AbortSignal): Promise<void> {
  const sweeping = ports.map(async (port) => {
    while (!signal.aborted) {
      await (await sendEvent(port, SWEEP, {})).text();
      await systemClock.sleep(EVERY_MS);
    }
  });
  await Promise.all(sweeping);
}
