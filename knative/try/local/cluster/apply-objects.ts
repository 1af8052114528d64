// Applies the Kubernetes objects of the manifests (definitions, namespaces, accounts, RBAC, and
// objects of the kinds that were defined) in their order, as `kubectl apply -k` would, and waits
// until the API server serves a kind before it applies the first object of it.
import { type Clock, systemClock } from '../../../../shared/clock.ts';
import type { KubeClient } from '../../../../shared/kube/client.ts';
import { CRDS } from '../../../../shared/kube/crds.ts';
import type { DiscoveredResource, KubeObject, Manifest } from '../../../../shared/kube/objects.ts';
import type { ClusterObject } from '../manifests/wiring.ts';

export interface ApplyOptions {
  readonly signal?: AbortSignal | undefined;
  readonly clock?: Clock;
  /** How long the API server may take from a definition to the kind. */
  readonly servedWithinMs?: number;
}

/** It takes a fifth of a second; much more only on a machine that has no time for it. */
const SERVED_WITHIN_MS = 20_000;
/** The question is cheap, and asked a few times at a start. */
const ASK_EVERY_MS = 50;

export async function applyObjects(
  kube: KubeClient,
  objects: readonly ClusterObject[],
  options: ApplyOptions = {},
): Promise<void> {
  const definitions: ClusterObject[] = [];
  for (const one of objects) {
    const definition = definitions.find((candidate) => defines(candidate, one));
    const resource = await resourceFor(kube, one, definition, options);
    await kube.apply(resource, placed(one.object, resource), {
      force: true,
      signal: options.signal,
    });
    if (one.object.kind === 'CustomResourceDefinition') definitions.push(one);
  }
}

/** As kubectl does: kustomize has some of its objects say a namespace that their kind has not. */
function placed(object: Manifest, { isNamespaced }: DiscoveredResource): Manifest {
  if (isNamespaced) return object;
  const { namespace: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}

function defines(definition: ClusterObject, { object }: ClusterObject): boolean {
  // The API server has taken it, and so it has these fields.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { group, names } = definition.object['spec'] as {
    readonly group: string;
    readonly names: { readonly kind: string };
  };
  return names.kind === object.kind && object.apiVersion.startsWith(`${group}/`);
}

async function resourceFor(
  kube: KubeClient,
  { file, object: { apiVersion, kind } }: ClusterObject,
  definition: ClusterObject | undefined,
  { signal, clock = systemClock, servedWithinMs = SERVED_WITHIN_MS }: ApplyOptions,
): Promise<DiscoveredResource> {
  const endsAtMs = clock.nowMs() + servedWithinMs;
  for (;;) {
    const found = await kube.resourceFor(apiVersion, kind, { signal });
    if (found !== undefined) return found;
    const lacks = `${file}: the API server has no ${apiVersion} ${kind}`;
    if (definition === undefined) throw new Error(lacks);
    if (clock.nowMs() >= endsAtMs) {
      const { name } = definition.object.metadata;
      const now = await kube.get(CRDS, { name }, { signal });
      const since = `${servedWithinMs / 1_000} s after ${definition.file} defined it`;
      throw new Error(`${lacks}, ${since}. ${name} says: ${saidBy(now)}`);
    }
    await clock.sleep(ASK_EVERY_MS, signal);
  }
}

/** The state of a definition: accepted, established, and why not. */
function saidBy(definition: KubeObject | null): string {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { conditions = [] } = (definition?.['status'] ?? {}) as {
    readonly conditions?: readonly Readonly<Record<'type' | 'status' | 'message', string>>[];
  };
  const said = conditions.map(({ type, status, message }) => `${type}=${status} (${message})`);
  return said.length === 0 ? 'nothing' : said.join(', ');
}
