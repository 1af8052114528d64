// Plays a kubelet's writes and reads: the status of a pod that runs, and the files of a Secret.
import type { KubeObject } from '../../../shared/kube/objects.ts';
import type { Ended, Files } from './container.ts';

export function podStatus(pod: { readonly ip: string; readonly isReady: boolean }, ended?: Ended) {
  const at = new Date().toISOString().replace(/\.\d+Z$/, 'Z');
  const condition = (type: string, isSo: boolean) => ({
    type,
    status: isSo ? 'True' : 'False',
    lastTransitionTime: at,
  });
  return {
    phase: 'Running',
    podIP: pod.ip,
    podIPs: [{ ip: pod.ip }],
    conditions: [
      condition('PodScheduled', true),
      condition('Initialized', true),
      condition('ContainersReady', pod.isReady),
      condition('Ready', pod.isReady),
    ],
    containerStatuses: ended === undefined ? null : [crashed(ended, at)],
  };
}

const crashed = ({ exitCode, restarts, message }: Ended, finishedAt: string) => ({
  name: 'etcd',
  image: '',
  imageID: '',
  ready: false,
  restartCount: restarts,
  state: { waiting: { reason: 'CrashLoopBackOff' } },
  lastState: { terminated: { exitCode, reason: 'Error', message, finishedAt } },
});

export function filesIn(secret: KubeObject): Files {
  const data = (secret['data'] ?? {}) as Record<string, string>;
  const entries = Object.entries(data).map(([name, text]) => [
    name,
    Buffer.from(text, 'base64').toString(),
  ]);
  return Object.fromEntries(entries);
}
