// A running control plane goes to a step of our own kinds here, forward or back. The API server
// takes conversion off while another version is stored; this does not.
import type { Clock } from '../../../../shared/clock.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { CRDS } from '../../../../shared/kube/crds.ts';
import { isRecord } from '../../../../shared/kube/json.ts';
import type { KubeObject, Manifest } from '../../../../shared/kube/objects.ts';
import { apiVersionOf, GROUP, WRITTEN } from '../../../../shared/kube/own-kinds/versions.ts';
import { applyObjects } from '../cluster/apply-objects.ts';
import { presentStep } from './present-step.ts';
import { showsCertificate } from './shows-certificate.ts';
import { FIRST, type Step, STEPS } from './step-names.ts';
import { ledTo, renderStep, webhookOf } from './steps.ts';

const SERVICES = { group: '', version: 'v1', resource: 'services' } as const;
const SERVICE = { namespace: 'ballast-system', name: 'conversion' } as const;
/** They say how pods are run, and none is. */
const OF_PODS: readonly string[] = ['Deployment', 'PodDisruptionBudget'];
/** The conversion looks for its definitions once a minute. */
const BELIEVED_WITHIN_MS = 90_000;
const ANSWERS_WITHIN_MS = 5_000;
/** Definitions are the largest objects that there are. */
const ASK_EVERY_MS = 1_000;

export async function takeStep(
  kube: KubeClient,
  step: Step,
  port: number,
  signal?: AbortSignal,
): Promise<void> {
  await assertBeside(kube, step, signal);
  if (step === FIRST) await takeConversionOff(kube, signal);
  await applyManifests(kube, await renderStep(step), port, signal);
}

/** From afar a version would be stored before anybody converts, or go before the proof. */
async function assertBeside(kube: KubeClient, step: Step, signal?: AbortSignal): Promise<void> {
  const wanted = STEPS.indexOf(step);
  const definitions = await ownDefinitions(kube, signal);
  const present = definitions.map((one) => STEPS.indexOf(presentStep(one)));
  const far = present.find((one) => Math.abs(one - wanted) > 1);
  if (far === undefined) return;
  throw new Error(
    `Our own kinds are at step ${far}, and steps are taken one after the other: take step ` +
      `${far + Math.sign(wanted - far)} before (docs/upgrading.md).`,
  );
}

/** Manifests of a step, led to the port. */
export async function applyManifests(
  kube: KubeClient,
  manifests: readonly Manifest[],
  port: number,
  signal?: AbortSignal,
): Promise<void> {
  const objects = manifests
    .filter(({ kind }) => !OF_PODS.includes(kind))
    .map((object) => ({ file: 'docs/upgrading.md', object: ledTo(port, object) }));
  await applyObjects(kube, objects, { signal });
}

export async function ownDefinitions(
  kube: KubeClient,
  signal?: AbortSignal,
): Promise<readonly KubeObject[]> {
  const { items } = await kube.list(CRDS, { signal });
  return items.filter(({ spec }) => isRecord(spec) && spec['group'] === GROUP);
}

const isConverted = (definition: KubeObject): boolean =>
  webhookOf(definition)['service'] !== undefined;

/** For a start without conversion: what is kept may not ask for it. */
export async function assertNobodyConverts(kube: KubeClient, signal?: AbortSignal): Promise<void> {
  const definition = (await ownDefinitions(kube, signal)).find(isConverted);
  if (definition === undefined) return;
  throw new Error(
    `The definition ${definition.metadata.name} that was kept asks conversion, which runs with ` +
      '--step alone: start with the --step N at which it was ended (docs/upgrading.md).',
  );
}

/** Where the conversion listens; the Service that a start with a step has made says it. */
export async function conversionPort(kube: KubeClient): Promise<number> {
  const spec = (await kube.get(SERVICES, SERVICE))?.['spec'];
  const [first] = isRecord(spec) && Array.isArray(spec['ports']) ? spec['ports'] : [];
  const port: unknown = isRecord(first) ? first['port'] : undefined;
  if (isRecord(spec) && spec['type'] === 'ExternalName' && typeof port === 'number') return port;
  throw new Error(
    'No conversion runs here as a process: start with npm start -- --step N. On a cluster with ' +
      'pods, kubectl apply -k the step.',
  );
}

/** The same, and somebody answers there: definitions that lead to nobody are read by nobody. */
export async function runningConversion(kube: KubeClient): Promise<number> {
  const port = await conversionPort(kube);
  try {
    await showsCertificate(port, AbortSignal.timeout(ANSWERS_WITHIN_MS));
  } catch (cause) {
    throw new Error(
      `Nobody shows a certificate at port ${port}, where conversion was: see whether ` +
        'function/conversion runs, by npm run part, or start with npm start -- --step N.',
      { cause },
    );
  }
  return port;
}

/** The API server believes it, for each definition that asks it. */
export async function untilBelieved(kube: KubeClient, clock: Clock): Promise<void> {
  const endsAtMs = clock.nowMs() + BELIEVED_WITHIN_MS;
  for (;;) {
    const asking = (await ownDefinitions(kube)).filter(isConverted);
    const without = asking.find((one) => webhookOf(one)['caBundle'] === undefined);
    if (without === undefined) return;
    if (clock.nowMs() >= endsAtMs) {
      const { name } = without.metadata;
      throw new Error(
        `The definition ${name} still has no caBundle ${BELIEVED_WITHIN_MS / 1_000} s after the ` +
          'step: see whether function/conversion is ready, by npm run part.',
      );
    }
    await clock.sleep(ASK_EVERY_MS);
  }
}

/** Without it what is stored in the other version would be read without its words. */
async function takeConversionOff(kube: KubeClient, signal?: AbortSignal): Promise<void> {
  const converted = (await ownDefinitions(kube, signal)).filter(isConverted);
  for (const definition of converted) assertFirstAlone(definition);
  for (const { metadata } of converted) {
    const { name, resourceVersion } = metadata;
    const conversion = { strategy: 'None', webhook: null };
    const body = { metadata: { resourceVersion }, spec: { conversion } };
    await kube.patch(CRDS, { name }, { type: 'merge', body }, { signal });
  }
}

function assertFirstAlone({ metadata, status }: KubeObject): void {
  const stored = isRecord(status) ? status['storedVersions'] : undefined;
  if (Array.isArray(stored) && stored.every((version) => version === WRITTEN)) return;
  throw new Error(
    `Step 0 has ${apiVersionOf(WRITTEN)} alone, and the status of the definition ` +
      `${metadata.name} has the storedVersions ${JSON.stringify(stored)}: stay at step 1, and ` +
      'wait until kubectl get storagemigrations says Proved.',
  );
}
