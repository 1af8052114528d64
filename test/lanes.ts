// Lanes: test files that share one control plane and run one after another on it. Each file finds
// the plane as the first one did. A file that kills a part, compacts etcd or needs flags of its own
// is in no lane, and starts its own plane.
import type { CorePart } from '../knative/local/plane/plane.ts';

export interface Lane {
  /** The name of its vitest project. */
  readonly name: string;
  /** Globs, from the top of the repository. */
  readonly include: readonly string[];
  readonly parts: readonly CorePart[];
  /** Whether all that we ship is applied before the first file. */
  readonly hasManifests: boolean;
}

export const lanes: readonly Lane[] = [
  {
    name: 'kube',
    include: [
      'test/integration/kube/{objects,status,trouble}.test.ts',
      'test/integration/lanes/*.test.ts',
    ],
    parts: ['etcd', 'kube-apiserver'],
    hasManifests: false,
  },
];
