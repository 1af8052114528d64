// Asks the API server how it would store a new cluster: it fills in defaults, and refuses what it
// would refuse later. Nothing is made by that.
import { cut } from '../../shared/cut.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeError } from '../../shared/kube/errors.ts';
import type { Reason } from '../../shared/kube/conditions.ts';
import type { Manifest, ResourceRef } from '../../shared/kube/objects.ts';
import { isOfRbac } from '../../shared/kube/rbac.ts';
import { fieldOf } from './legacy.ts';
import type { TargetOf } from './state.ts';

const WHY_BYTES_MAX = 1_000;

/** In the namespace of the Takeover, under the name that it says. */
export interface Wanted {
  readonly ref: ResourceRef;
  readonly manifest: Manifest;
  /** The line that grants the function what its own policy asks for; none where it asks nothing. */
  readonly grant?: string;
}

/** The policy that holds the function to what a person has granted by name. */
const OWN_POLICY = "ValidatingAdmissionPolicy 'ballast-takeover'";

export async function asStored<Spec>(
  kube: KubeClient,
  { ref, manifest, grant }: Wanted,
  signal: AbortSignal,
): Promise<TargetOf<Spec>> {
  const { kind } = manifest;
  const wanted = fieldOf({ ...manifest }, 'spec');
  try {
    const { object, isNew } = await kube.create(ref, manifest, { dryRun: true, signal });
    // One that is there already is told of as a name that is taken. The API server holds it to its
    // schema.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return { wanted, spec: isNew ? (object['spec'] as Spec) : undefined };
  } catch (error) {
    if (isKubeError(error, 'KUBE_NOT_FOUND')) return refusedOf(kind, wanted, notInstalled(kind));
    const isRefusal = isKubeError(error, 'KUBE_INVALID', 'KUBE_FORBIDDEN');
    if (!isRefusal || isOfRbac(error.answer?.message ?? '')) throw error;
    const [policy = '', why = ''] = (error.answer?.message ?? '').split(' denied request: ');
    return grant !== undefined && policy.includes(OWN_POLICY)
      ? { wanted, spec: undefined, refused: forbidden(manifest, why, grant) }
      : refusedOf(kind, wanted, error.message);
  }
}

const notInstalled = (kind: string): string =>
  `the API server knows no ${kind} of ballast.dev; install its definition.`;

function forbidden({ kind, metadata }: Manifest, why: string, grant: string): Reason {
  const message =
    `The function may not make ${kind} ${metadata.namespace}/${metadata.name}: ` +
    `${cut(why, WHY_BYTES_MAX)} This grants it all that the plan needs: ${grant}`;
  return { reason: `${kind}Forbidden`, message };
}

export const refusedOf = (
  kind: string,
  wanted: TargetOf<never>['wanted'],
  why: string,
): TargetOf<never> => ({
  wanted,
  spec: undefined,
  refused: {
    reason: `${kind}Refused`,
    message:
      `spec.into.spec, over what the legacy object says, makes no ${kind} that can be led into: ` +
      cut(why, WHY_BYTES_MAX),
  },
});
