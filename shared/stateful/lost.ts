// Finds servers whose volume cannot come back: it is lost, or it is on the disk of a node that is
// gone. A volume that another node could mount is never called lost, however long its pod finds no
// node, because a lost volume is deleted.
import type { KubeClient } from '../kube/client.ts';
import type { KubeObject } from '../kube/objects.ts';
import type { Claim } from './claims.ts';
import type { Pod } from './pods.ts';

export interface LostDeps {
  readonly kube: KubeClient;
  readonly nowMs: number;
  readonly signal: AbortSignal;
}

const core = (resource: string) => ({ group: '', version: 'v1', resource }) as const;
const NODES = core('nodes');
const VOLUMES = core('persistentvolumes');

/** A pod that has found no node for so long may never find one. */
const PLACELESS_MS = 300_000;

/** By the name of the server, which is its pod's, and why. */
export async function findLost(
  deps: LostDeps,
  pods: readonly Pod[],
  claims: readonly Claim[],
  claimName: (server: string) => string,
): Promise<ReadonlyMap<string, string>> {
  const lost = new Map<string, string>();
  for (const pod of pods) {
    const claim = claims.find(({ name }) => name === claimName(pod.name));
    if (claim === undefined || pod.isReady) continue;
    if (claim.phase === 'Lost') lost.set(pod.name, `The volume of claim ${claim.name} is lost.`);
    else if (await isOnLostNode(deps, claim, pod)) {
      const where = `node ${claim.node ?? ''}, which is no more`;
      lost.set(pod.name, `The volume of claim ${claim.name} is on ${where}.`);
    }
  }
  return lost;
}

async function isOnLostNode(
  { kube, nowMs, signal }: LostDeps,
  { node, volume: name }: Claim,
  { placelessSince }: Pod,
): Promise<boolean> {
  if (node === undefined || placelessSince === undefined) return false;
  if (nowMs - Date.parse(placelessSince) < PLACELESS_MS) return false;
  if ((await kube.get(NODES, { name: node }, { signal })) !== null) return false;
  // The volume was to be made for that node, and never was.
  if (name === undefined) return true;
  const volume = await kube.get(VOLUMES, { name }, { signal });
  return volume !== null && isOnlyOn(volume, node);
}

interface NodeRequirement {
  readonly operator: string;
  readonly values?: readonly string[];
}

interface NodeTerm {
  readonly matchExpressions?: readonly NodeRequirement[];
  readonly matchFields?: readonly NodeRequirement[];
}

/**
 * True when every way to mount the volume names this node alone, by whatever label its driver uses.
 */
function isOnlyOn({ spec }: KubeObject, node: string): boolean {
  // The API server holds volumes to their schema.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { nodeAffinity } = spec as {
    readonly nodeAffinity?: {
      readonly required?: { readonly nodeSelectorTerms: readonly NodeTerm[] };
    };
  };
  const terms = nodeAffinity?.required?.nodeSelectorTerms ?? [];
  const isNamed = ({ matchExpressions = [], matchFields = [] }: NodeTerm): boolean =>
    [...matchExpressions, ...matchFields].some(
      ({ operator, values = [] }) =>
        operator === 'In' && values.length > 0 && values.every((one) => one === node),
    );
  return terms.length > 0 && terms.every(isNamed);
}
