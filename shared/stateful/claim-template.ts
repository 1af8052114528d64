// The claim template of a StatefulSet, and the access mode of claims. Neither a template nor a
// claim can change its mode, so an existing one decides before the spec does. Pure.
import type { AccessMode } from '../api/servers.ts';

/**
 * The kubelet mounts such a volume for no second pod while the first one has a container that runs,
 * also when that pod was deleted by force and is forgotten by everybody else.
 */
const SAFE: AccessMode = 'ReadWriteOncePod';

interface TemplateSpec {
  readonly accessModes?: readonly string[];
  readonly resources: { readonly requests: { readonly storage: string } };
}

export interface ClaimShape {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly size: string;
  /** The cluster's own when undefined. */
  readonly storageClassName: string | undefined;
  readonly accessMode: AccessMode;
}

/** Renders a template; its claims belong to nobody, so that data outlives the owner of servers. */
export const claimTemplateOf = ({
  name,
  labels,
  size,
  storageClassName,
  accessMode,
}: ClaimShape) => ({
  metadata: { name, labels },
  spec: {
    accessModes: [accessMode],
    resources: { requests: { storage: size } },
    ...(storageClassName === undefined ? {} : { storageClassName }),
  },
});

/** Reads a StatefulSet of ours, rendered or read; undefined when it has no claims. */
export function claimTemplateIn(object: object): TemplateSpec | undefined {
  // Ours, and the API server's: both have this shape.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const { spec } = object as {
    readonly spec?: { readonly volumeClaimTemplates?: readonly { readonly spec: TemplateSpec }[] };
  };
  return spec?.volumeClaimTemplates?.[0]?.spec;
}

/** The size of each claim; undefined without claims. */
export const storageIn = (object: object): string | undefined =>
  claimTemplateIn(object)?.resources.requests.storage;

export const modeAmong = (accessModes: readonly string[] = []): AccessMode =>
  accessModes.includes(SAFE) ? SAFE : 'ReadWriteOnce';

/**
 * The mode for a StatefulSet, of which the spec says one or none. Objects of before there was a
 * choice say none, and theirs is not the default: while their StatefulSet is made anew around its
 * pods the claims tell.
 */
export function accessModeOf(
  said: AccessMode | undefined,
  statefulSet: object | undefined,
  claims: readonly { readonly accessMode: AccessMode }[],
): AccessMode {
  const template = statefulSet && claimTemplateIn(statefulSet);
  if (template !== undefined) return modeAmong(template.accessModes);
  return said ?? claims[0]?.accessMode ?? SAFE;
}
