// nats-server with JetStream on loopback.
import { join } from 'node:path';
import type { PartSpec } from '../process/part.ts';
import { answers } from './probe.ts';

export interface NatsOptions {
  readonly binary: string;
  readonly dir: string;
  readonly port: number;
  readonly monitorPort: number;
}

export function natsServerSpec({ binary, dir, port, monitorPort }: NatsOptions): PartSpec {
  return {
    name: 'nats-server',
    command: binary,
    args: [
      '--addr=127.0.0.1',
      `--port=${port}`,
      `--http_port=${monitorPort}`,
      '--jetstream',
      `--store_dir=${join(dir, 'nats')}`,
    ],
    env: {},
    url: `nats://127.0.0.1:${port}`,
    monitorUrl: `http://127.0.0.1:${monitorPort}`,
    ready: (signal) => answers(`http://127.0.0.1:${monitorPort}/healthz`, signal),
  };
}
