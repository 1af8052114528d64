// Takes the finalizer of a dead operator off the objects that have the old pods: with it they would
// never end, and an operator that is started again would delete their claims. Each patch is on
// condition that the object is still as it was observed.
import type { PlannedStep, TakeoverWork } from '../../shared/api/takeover.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import { waitFor } from '../../shared/stateful/decision.ts';
import { applied, type StepResult } from '../../shared/stateful/steps.ts';
import type { Decision } from './decision.ts';
import { isOfWebhook } from './of-webhook.ts';
import type { FoundPeer, State } from './state.ts';
import { stopOperators, stoppedOperators } from './stop-operators.ts';

export function heldPeers({
  legacy,
  peers,
}: Pick<State, 'legacy' | 'peers'>): readonly FoundPeer[] {
  const finalizer = legacy?.peers?.finalizer ?? '';
  return peers.filter(({ finalizers }) => finalizers.includes(finalizer));
}

export function releasesPeers(state: State): readonly PlannedStep[] {
  const held = heldPeers(state).length;
  if (held === 0) return [];
  return [
    {
      name: 'ReleasePeers',
      does: `${held} EtcdPeers lose the finalizer by which their claims would be deleted.`,
      precondition: 'No operator runs, and each has the uid and the finalizers it was seen with.',
    },
  ];
}

/** One that was started again would take the finalizer for an order to delete the claim. */
export function releasePeers(state: State, work: TakeoverWork): Decision {
  if (!stoppedOperators(state)) return stopOperators(state, work);
  const [peer] = heldPeers(state);
  if (peer === undefined) return waitFor('Go on', []);
  return { step: { type: 'release-peer', peer }, next: `Release EtcdPeer ${peer.name}` };
}

export async function releasePeer(
  kube: KubeClient,
  { legacy }: State,
  { name, uid, resourceVersion, finalizers }: FoundPeer,
  signal: AbortSignal,
): Promise<StepResult | Reason> {
  if (legacy?.peers === undefined) throw new Error('there are no peers');
  const { ref, finalizer } = legacy.peers;
  const rest = finalizers.filter((one) => one !== finalizer);
  const body = { metadata: { uid, resourceVersion, finalizers: rest } };
  const target = { namespace: legacy.namespace, name };
  try {
    // The answer of a webhook is one that might pass, and is told at once.
    await kube.patch(ref, target, { type: 'merge', body }, { isOnce: true, signal });
  } catch (error) {
    if (!isOfWebhook(error)) throw error;
    return webhookFails(name, error.message);
  }
  return applied('PeerReleased', `EtcdPeer ${name} (uid ${uid}) goes without its claim.`);
}

const webhookFails = (name: string, why: string): Reason => ({
  reason: 'WebhookFails',
  message:
    `Clients are led over. EtcdPeer ${name} cannot be changed, since a webhook of the old ` +
    'operator is left that nobody serves. Delete those configurations (kubectl get ' +
    'validatingwebhookconfigurations,mutatingwebhookconfigurations lists all); whoever needs ' +
    `that operator for others applies it again afterwards. ${why}`,
});
