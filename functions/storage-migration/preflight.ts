// Before anything is written: may this function do all that it will have to, would a sample come
// through, and would any object lose a field. Answers why not, in words that say what to do.
import { Failure } from '../../shared/errors.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { type KubeError, isKubeError } from '../../shared/kube/errors.ts';
import type { KubeObject, ResourceRef } from '../../shared/kube/objects.ts';
import { resourceName } from '../../shared/kube/paths.ts';
import { FIELD_MANAGER } from './field-manager.ts';
import type { Migration } from './migration.ts';
import { hasValueAt, lostFields } from './schema-loss.ts';
import { CRDS, type Crd, type Target } from './target.ts';

export interface Obstacle {
  readonly reason: string;
  readonly message: string;
}

const REVIEWS = {
  group: 'authorization.k8s.io',
  version: 'v1',
  resource: 'selfsubjectaccessreviews',
} as const;

export async function preflight(
  kube: KubeClient,
  migration: Migration,
  target: Target,
  signal: AbortSignal,
): Promise<Obstacle | undefined> {
  return (
    (await missingRights(kube, migration, target, signal)) ??
    (await refusedSample(kube, target, signal)) ??
    (await lossOfFields(kube, migration, target, signal))
  );
}

interface Right {
  readonly ref: ResourceRef;
  readonly verb: string;
  readonly subresource?: string;
  readonly name?: string;
}

async function missingRights(
  kube: KubeClient,
  { spec }: Migration,
  { ref, crd }: Target,
  signal: AbortSignal,
): Promise<Obstacle | undefined> {
  const verbs = ['get', 'list', 'patch'];
  const needed: Right[] = verbs.map((verb) => ({ ref, verb }));
  // It is also how a version that was taken off without proof comes back.
  if (crd !== undefined && !spec.dryRun) {
    needed.push({ ref: CRDS, verb: 'patch', subresource: 'status', name: crd.name });
  }
  const missing: Right[] = [];
  for (const right of needed) if (!(await isAllowed(kube, right, signal))) missing.push(right);
  if (missing.length === 0) return undefined;
  const lacking = missing.map(
    ({ verb, ...on }) => `${verb} ${resourceName(on.ref, on.subresource)}`,
  );
  const what = resourceName(ref);
  const message =
    `The function may not ${lacking.join(', ')}. ` +
    `npm run migrate -- ${what} prints the ClusterRole and its binding; kubectl apply them.`;
  return { reason: 'RightsMissing', message };
}

async function isAllowed(
  kube: KubeClient,
  { ref: { group, resource }, verb, subresource, name }: Right,
  signal: AbortSignal,
): Promise<boolean> {
  const path = `/apis/${REVIEWS.group}/${REVIEWS.version}/${REVIEWS.resource}`;
  const resourceAttributes = { group, resource, verb, subresource, name };
  const body = {
    apiVersion: `${REVIEWS.group}/${REVIEWS.version}`,
    kind: 'SelfSubjectAccessReview',
    spec: { resourceAttributes },
  };
  const answer = await kube.raw({ method: 'POST', path, body, repeat: 'always', signal });
  // The API server's own shape.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { status } = JSON.parse(answer.text) as { status: { allowed: boolean } };
  return status.allowed;
}

/** One object read and, dryly, written: a conversion webhook that is away shows here. */
async function refusedSample(
  kube: KubeClient,
  target: Target,
  signal: AbortSignal,
): Promise<Obstacle | undefined> {
  const { ref, kind, crd } = target;
  const isOnce = true;
  try {
    const { items } = await kube.list(ref, { limit: 1, signal, isOnce });
    const [sample] = items;
    if (sample === undefined) return undefined;
    const { name, namespace, uid, resourceVersion } = sample.metadata;
    const place = namespace === undefined ? { name } : { name, namespace };
    // Each version that is served asks the webhook another question.
    for (const { name: version } of crd?.versions.filter(({ served }) => served) ?? []) {
      await kube.get({ ...ref, version }, place, { signal, isOnce });
    }
    const { apiVersion } = sample;
    const manifest = { apiVersion, kind, metadata: { ...place, uid, resourceVersion } };
    const options = { fieldManager: FIELD_MANAGER, force: false, dryRun: true, signal, isOnce };
    await kube.apply(ref, manifest, options);
    return undefined;
  } catch (error) {
    if (!isKubeError(error)) throw error;
    return obstacleOf(error, crd);
  }
}

/** What the API server could not do itself; what it refuses of one object is that object's matter. */
function obstacleOf(error: KubeError, crd: Crd | undefined): Obstacle | undefined {
  const { code, message, answer } = error;
  if (code !== 'KUBE_UNAVAILABLE' && code !== 'KUBE_TIMEOUT') return undefined;
  // Not an answer: nobody can say what it would have been.
  if (answer === undefined) throw error;
  const isWebhook = crd?.hasWebhook === true && /conver/.test(answer.message);
  const what = isWebhook
    ? `The conversion webhook of CRD ${crd.name} does not convert a sample: repair it. `
    : 'A sample cannot be read and written. ';
  return { reason: isWebhook ? 'ConversionFails' : 'SampleFails', message: `${what}${message}` };
}

const PAGE_SIZE = 500;

/** Without a webhook a field that the stored version does not have is dropped without a word. */
async function lossOfFields(
  kube: KubeClient,
  { spec }: Migration,
  { ref, crd, version }: Target,
  signal: AbortSignal,
): Promise<Obstacle | undefined> {
  if (crd === undefined || crd.hasWebhook) return undefined;
  const schemaOf = (name: string) =>
    crd.versions.find((one) => one.name === name)?.schema?.openAPIV3Schema;
  const accepted = new Set(spec.acceptedLoss ?? []);
  for (const old of crd.versions.filter(({ name }) => name !== version)) {
    if (!crd.storedVersions.includes(old.name)) continue;
    const fields = lostFields(schemaOf(old.name), schemaOf(version)).filter(
      (one) => !accepted.has(one),
    );
    if (fields.length === 0) continue;
    if (!old.served) return unseenLoss(crd, old.name, version, fields);
    const found = await findLoss(kube, { ...ref, version: old.name }, fields, signal);
    if (found !== undefined) return loss(crd, version, found);
  }
  return undefined;
}

interface Loss {
  readonly fields: readonly string[];
  readonly objects: number;
  readonly example: string;
}

/** In their old version objects still show what they have. */
async function findLoss(
  kube: KubeClient,
  ref: ResourceRef,
  fields: readonly string[],
  signal: AbortSignal,
): Promise<Loss | undefined> {
  const lost = new Set<string>();
  let objects = 0;
  let example = '';
  const pages = kube.pages(ref, { limit: PAGE_SIZE, onExpired: 'inconsistent', signal });
  for await (const { items } of pages) {
    for (const object of items) {
      const own = fields.filter((field) => hasValueAt(object, field));
      if (own.length === 0) continue;
      objects += 1;
      example ||= nameOf(object);
      for (const field of own) lost.add(field);
    }
  }
  return objects === 0 ? undefined : { fields: [...lost], objects, example };
}

const nameOf = ({ metadata: { namespace, name } }: KubeObject): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

function loss({ name }: Crd, version: string, { fields, objects, example }: Loss): Obstacle {
  const message =
    `${objects} objects, such as ${example}, would lose ${fields.join(', ')}, for which ` +
    `${version} of CRD ${name} has no place. Add the fields to its schema, or name them in ` +
    'spec.acceptedLoss.';
  return { reason: 'FieldsWouldBeLost', message };
}

function unseenLoss(
  { name }: Crd,
  old: string,
  version: string,
  fields: readonly string[],
): Obstacle {
  const message =
    `Objects may have ${fields.join(', ')}, for which ${version} of CRD ${name} has no place, and ` +
    `${old} is not served, so nobody can look. Serve it, or name the fields in spec.acceptedLoss.`;
  return { reason: 'FieldsWouldBeLost', message };
}

/** What stops a pass, as a reason to wait; anything else is the caller's to throw. */
export function obstacleIn(error: unknown, crd: Crd | undefined): Obstacle | undefined {
  if (!(error instanceof Failure)) return undefined;
  if (isKubeError(error, 'KUBE_FORBIDDEN')) {
    return { reason: 'RightsMissing', message: error.message };
  }
  return isKubeError(error) && error.answer !== undefined ? obstacleOf(error, crd) : undefined;
}
