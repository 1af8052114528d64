// Applies one step on a NatsCluster. Each changes one thing: what it makes it creates and never
// updates, and what is there it changes or deletes by uid, on condition that it is still as it was
// observed.
import { NATS_CLUSTERS } from '../../../shared/api/nats-cluster.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import type { Reason } from '../../../shared/kube/conditions.ts';
import { listed } from '../../../shared/stateful/decision.ts';
import { applied, type StepResult } from '../../../shared/stateful/steps.ts';
import type { AnyStep } from '../any-state.ts';
import type { Takeover } from '../object.ts';
import type { FoundMade, FoundService } from '../state.ts';
import { usersSecretOf } from './carry-over.ts';
import type { NatsStep } from './decision.ts';
import { endServer } from './end-server.ts';
import { newSelectorOf } from './led.ts';
import { CONFIG_KEY } from './legacy.ts';
import { makerOf } from './made/makers.ts';
import { keysWanted, natsClusterManifest, usersManifest } from './render.ts';
import type { NatsState } from './state.ts';

export async function applyNatsStep(
  kube: KubeClient,
  state: NatsState,
  step: AnyStep,
  signal: AbortSignal,
): Promise<StepResult | Reason> {
  const { takeover, target } = state;
  const { namespace } = takeover;
  const maker = makerOf(takeover.spec.legacy);
  switch (step.type) {
    case 'make-nats-cluster': {
      // One that is there already stays as it is, and the next look says whose it is.
      await kube.create(NATS_CLUSTERS, natsClusterManifest(takeover, target.wanted), { signal });
      return applied('Created', `Created NatsCluster ${takeover.spec.into.name}.`);
    }
    case 'make-users':
      return makeUsers(kube, state, step.cluster, signal);
    case 'set-routes':
      return setRoutes(kube, state, step, signal);
    case 'lead-over':
      return maker.leadToNew(kube, takeover, ledIn(step.service, takeover), signal);
    case 'lead-back':
      return maker.leadToOld(kube, takeover, ledIn(step.service, takeover), signal);
    case 'delete-server':
    case 'scale-down':
      return endServer(kube, takeover, step, signal);
    case 'delete-nats-cluster': {
      const { name, uid, resourceVersion } = step.found;
      const background = { propagationPolicy: 'Background', signal } as const;
      const found = { namespace, name };
      await kube.delete(NATS_CLUSTERS, found, { uid, resourceVersion }, background);
      return applied('TakenBack', `Deleted NatsCluster ${name} (uid ${uid}), which was ours.`);
    }
    case 'delete-legacy-nats':
      return deleteLegacy(kube, state, step, signal);
    default:
      // Operators are scaled and the status is written by pieces of their own.
      return { isSlow: false };
  }
}

const ledIn = (service: FoundService, takeover: Takeover) => ({
  service,
  selector: newSelectorOf(takeover),
});

/** Passwords go from where the old servers have them into that Secret, and nowhere else. */
async function makeUsers(
  kube: KubeClient,
  { takeover, target, legacy }: NatsState,
  cluster: FoundMade,
  signal: AbortSignal,
): Promise<StepResult | Reason> {
  const { namespace, spec } = takeover;
  const { configKind, readPasswords } = makerOf(spec.legacy);
  const passwords = legacy === undefined ? NO_PASSWORDS : await readPasswords(kube, legacy, signal);
  const name = usersSecretOf(spec.into);
  const wanted = keysWanted(target.wanted, name);
  const lacking = wanted.filter((key) => !passwords.has(key));
  if (lacking.length > 0) {
    const message =
      `${configKind} ${namespace}/${legacy?.configName} has no password of ${listed(lacking)}, ` +
      `or may not be read. Put ${CONFIG_KEY} back there, or create Secret ${name} with these ` +
      `keys by hand, with NatsCluster ${cluster.name} (uid ${cluster.uid}) as its owner.`;
    return { reason: 'SecretMissing', message };
  }
  const data = Object.fromEntries(wanted.map((key) => [key, passwords.get(key) ?? '']));
  const manifest = usersManifest(takeover, cluster, data);
  await kube.create({ group: '', version: 'v1', resource: 'secrets' }, manifest, { signal });
  return applied('Created', `Created Secret ${name} with the passwords of ${wanted.length} users.`);
}

async function setRoutes(
  kube: KubeClient,
  { takeover: { namespace } }: NatsState,
  { cluster, routes }: Extract<NatsStep, { type: 'set-routes' }>,
  signal: AbortSignal,
): Promise<StepResult> {
  const { name, uid, resourceVersion } = cluster;
  const extraRoutes = routes.length === 0 ? null : routes;
  const body = { metadata: { uid, resourceVersion }, spec: { extraRoutes } };
  await kube.patch(NATS_CLUSTERS, { namespace, name }, { type: 'merge', body }, { signal });
  return routes.length === 0
    ? applied('RoutesLeft', `NatsCluster ${name} has no routes to the old servers any more.`)
    : applied('RoutesJoined', `NatsCluster ${name} has routes to ${listed(routes)}.`);
}

const NO_PASSWORDS: ReadonlyMap<string, string> = new Map();

async function deleteLegacy(
  kube: KubeClient,
  { takeover }: NatsState,
  { uid, resourceVersion }: Extract<NatsStep, { type: 'delete-legacy-nats' }>,
  signal: AbortSignal,
): Promise<StepResult> {
  const { namespace, spec } = takeover;
  const { name } = spec.legacy;
  const { ref, words } = makerOf(spec.legacy);
  const background = { propagationPolicy: 'Background', signal } as const;
  await kube.delete(ref, { namespace, name }, { uid, resourceVersion }, background);
  return applied('LegacyDeleted', `Deleted ${words.object(name)} (uid ${uid}).`);
}
