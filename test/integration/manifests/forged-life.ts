// Containers as a function renders them, with hooks and probes that a stolen account put into them:
// the kubelet would run programs in the pod, or ask others from the network of the node.

const exec = { exec: { command: ['sh', '-c', 'true'] } };
const METADATA_SERVER = '169.254.169.254';
const elsewhere = { httpGet: { host: METADATA_SERVER, path: '/', port: 80 } };
const socket = { tcpSocket: { host: METADATA_SERVER, port: 80 } };

/** `ends`: the hook with which the function itself ends a pod. */
export const forgedLife = (ends: object): readonly (readonly [what: string, more: object])[] => [
  ['that run a program at their start', { lifecycle: { ...ends, postStart: exec } }],
  ['that ask another address at their start', { lifecycle: { ...ends, postStart: elsewhere } }],
  ['that run another program at their end', { lifecycle: { preStop: exec } }],
  ['that ask another address at their end', { lifecycle: { preStop: elsewhere } }],
  ...['startupProbe', 'readinessProbe', 'livenessProbe'].flatMap((probe) => [
    [`with a ${probe} that runs a program`, { [probe]: exec }] as const,
    [`with a ${probe} of another address`, { [probe]: elsewhere }] as const,
    [`with a ${probe} of a socket elsewhere`, { [probe]: socket }] as const,
  ]),
];
