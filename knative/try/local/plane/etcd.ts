// etcd, one member on loopback. fsync is off: the data live as long as the plane, or were kept for
// a look, not for a disaster, and fsync would make the start and every write of a test many times
// slower.
import { join } from 'node:path';
import type { PartSpec } from '../process/part.ts';
import { answers } from './probe.ts';

export interface EtcdOptions {
  readonly binary: string;
  readonly dir: string;
  readonly clientPort: number;
  readonly peerPort: number;
}

export function etcdSpec({ binary, dir, clientPort, peerPort }: EtcdOptions): PartSpec {
  const client = `http://127.0.0.1:${clientPort}`;
  const peer = `http://127.0.0.1:${peerPort}`;
  return {
    name: 'etcd',
    command: binary,
    args: [
      '--name=local',
      `--data-dir=${join(dir, 'etcd')}`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=local=${peer}`,
      '--unsafe-no-fsync',
      '--log-level=warn',
    ],
    env: {},
    url: client,
    ready: (signal) => answers(`${client}/readyz`, signal),
  };
}
