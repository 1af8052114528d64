// Whether the conversion webhook of the new definition is there to convert what exists.
import type { Stored } from './compare.ts';
import type { Crd } from './crd.ts';
import type { Reason } from './reason.ts';
import { lookAtWebhook } from './remedies.ts';
import type { World } from './world.ts';

/** cert-manager writes the authority into definitions that say from where. */
const INJECTED = 'cert-manager.io/inject-';
const what = 'webhook-absent';

export async function webhookReasons(
  world: World,
  { from, to, stored }: { from: Crd | undefined; to: Crd; stored: Stored | undefined },
): Promise<readonly Reason[]> {
  const { service, hasAuthority } = to.conversion;
  if (service === undefined) return [];
  // Without objects nothing is to be converted, and the webhook may come with them.
  const weight = (stored?.objects ?? 0) > 0 ? 'unsafe-objects' : 'note';
  const name = `Service ${service.namespace}/${service.name} of the conversion webhook`;
  const fails = 'every read in a version that an object is not stored in fails';
  const reasons: Reason[] = [];
  const state = await world.webhook(service);
  const commands = lookAtWebhook(service);
  if ('unknown' in state) {
    reasons.push({ what, weight: 'note', says: `${name} ${state.unknown}.`, commands: [] });
  } else if (state.lacks !== undefined) {
    const says = `${name} ${state.lacks}: ${fails}. Have it answer before the CRD is applied.`;
    reasons.push({ what, weight, says, commands });
  }
  const comes = Object.keys(to.annotations).some((key) => key.startsWith(INJECTED));
  if (hasAuthority || comes) return reasons;
  const kept = from?.conversion.hasAuthority === true;
  const says = kept
    ? 'The new CRD has no caBundle, and the existing one has: apply it so that the field stays.'
    : `The new CRD has no caBundle, and no annotation asks cert-manager for one: until somebody ` +
      `writes it the API server trusts no ${name}, and ${fails}.`;
  return [...reasons, { what, weight: kept ? 'note' : weight, says, commands: [] }];
}
