// A wiring without one of its functions: neither it, nor what would wake it. Its kinds stay.
import type { Destination, Wiring } from './wiring.ts';

export function leaveOut(wiring: Wiring, functionName: string): Wiring {
  const isElsewhere = (to: Destination): boolean =>
    to.kind !== 'Service' || to.name !== functionName;
  return {
    ...wiring,
    functions: wiring.functions.filter(({ name }) => name !== functionName),
    triggers: wiring.triggers.filter(({ subscriber }) => isElsewhere(subscriber)),
    pings: wiring.pings.filter(({ sink }) => isElsewhere(sink)),
    sources: wiring.sources.filter(
      ({ extensions }) => extensions['ballastfunction'] !== functionName,
    ),
  };
}
