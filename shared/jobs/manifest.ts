// The Job of an object that is carried out once: one pod at a time, repeated by Kubernetes and not
// by a function, which is never a second one beside the first, and has no token of the API server.
// Pure.
import type { Manifest } from '../kube/objects.ts';
import { owned, type Owner } from '../stateful/parts.ts';
import { CONTAINER_BOUNDS, POD_BOUNDS } from '../stateful/pod-spec.ts';

/** Programs repeat what may pass by themselves; this is for what takes longer. */
const RETRIES = 3;
/** Time to read its log, and for its function to be away. */
const KEPT_SECONDS = 86_400;

export interface JobToMake {
  readonly owner: Owner;
  readonly name: string;
  readonly deadlineSeconds: number;
  /** With these another attempt would end in the same way. */
  readonly inVain: readonly InVain[];
  readonly pod: Readonly<Record<string, unknown>>;
}

interface InVain {
  readonly container: string;
  readonly exitCodes: readonly number[];
}

export function jobManifestOf(job: JobToMake): Manifest {
  const { owner, name, deadlineSeconds, inVain, pod } = job;
  const spec = {
    backoffLimit: RETRIES,
    activeDeadlineSeconds: deadlineSeconds,
    ttlSecondsAfterFinished: KEPT_SECONDS,
    // The pod before has ended before another one writes to the same place.
    podReplacementPolicy: 'Failed',
    podFailurePolicy: {
      rules: [
        ...inVain.map(({ container: containerName, exitCodes: values }) => ({
          action: 'FailJob',
          onExitCodes: { containerName, operator: 'In', values },
        })),
        // Its node went, or it was evicted: no failure of what it does.
        { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
      ],
    },
    template: {
      metadata: { labels: owner.labels },
      spec: { ...POD_BOUNDS, restartPolicy: 'Never', ...pod },
    },
  };
  return owned(owner, 'batch/v1', 'Job', name, { spec });
}

export interface Mounted {
  readonly name: string;
  readonly mountPath: string;
  readonly isWritten: boolean;
  readonly volume: object;
}

export const mountedForReading = (name: string, mountPath: string, volume: object): Mounted => ({
  name,
  mountPath,
  isWritten: false,
  volume,
});

export const mountsOf = (mounted: readonly Mounted[]) =>
  mounted.map(({ name, mountPath, isWritten }) => ({ name, mountPath, readOnly: !isWritten }));

export const volumesOf = (mounted: readonly Mounted[]) =>
  mounted.map(({ name, volume }) => ({ name, ...volume }));

/** One key of a Secret, under a name of ours. */
export const fileOf = (
  { name, key }: { readonly name: string; readonly key: string },
  path: string,
) => ({
  secretName: name,
  items: [{ key, path }],
});

interface Program {
  readonly name: string;
  readonly image: string;
  /** Where the image has it. */
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: readonly unknown[];
  readonly mounted: readonly Mounted[];
  readonly resources: unknown;
}

/** A container that runs a program of ours. */
export const programContainer = (of: Program) => ({
  name: of.name,
  image: of.image,
  command: ['/usr/bin/node', of.program],
  args: of.args,
  env: of.env ?? [],
  volumeMounts: mountsOf(of.mounted),
  resources: of.resources,
  ...CONTAINER_BOUNDS,
});

/** The kubelet would put a variable, such as a key of S3, in the place of `$(NAME)`. */
export const option = (name: string, value: string): string =>
  `--${name}=${value.replaceAll('$', () => '$$')}`;

/** Where the kubelet reads the last words of a container. */
export const RESULT = option('result', '/dev/termination-log');
