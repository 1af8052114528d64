// One side of P13, as a child process: makes the calls when told to, and says how long they took
// and how many sockets they opened. Sockets are counted where both clients open them, in
// node:net.

import { subscribe } from 'node:diagnostics_channel';
import { openKube } from '../../shared/kube/client.ts';

export interface CallerReport {
  readonly calls: number;
  readonly wallMs: number;
  readonly connections: number;
}

interface Caller {
  get(): Promise<unknown>;
  apply(turn: number): Promise<unknown>;
}

const callsOfAKind = 500;
const warmUpCalls = 50;
const fieldManager = 'p13';
const name = 'p13';
const namespace = 'default';

/** 1.8 KB, as the events of other benchmarks. */
const manifest = (turn: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, labels: { app: 'p13' } },
  data: {
    turn: `${process.pid}-${turn}`,
    ...Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`key-${i}`, 'x'.repeat(90)])),
  },
});

function oursCaller(kubeconfigPath: string): Caller {
  const kube = openKube({ userAgent: name, fieldManager, kubeconfigPath });
  const configMaps = { group: '', version: 'v1', resource: 'configmaps' };
  return {
    get: () => kube.get(configMaps, { namespace, name }),
    apply: (turn) => kube.apply(configMaps, manifest(turn), { force: true }),
  };
}

async function typedCaller(kubeconfigPath: string): Promise<Caller> {
  const { CoreV1Api, KubeConfig, PatchStrategy, setHeaderOptions } =
    await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromFile(kubeconfigPath);
  const core = config.makeApiClient(CoreV1Api);
  const asApply = setHeaderOptions('Content-Type', PatchStrategy.ServerSideApply);
  return {
    get: () => core.readNamespacedConfigMap({ namespace, name }),
    apply: (turn) => {
      const body = manifest(turn);
      const target = { namespace, name, body, fieldManager, force: true };
      return core.patchNamespacedConfigMap(target, asApply);
    },
  };
}

async function makeCalls(caller: Caller, count: number, turn: number): Promise<void> {
  for (let done = 0; done < count; done += 1) await caller.get();
  for (let done = 0; done < count; done += 1) await caller.apply(turn + done);
}

const [client, kubeconfigPath = ''] = process.argv.slice(2);
const caller = client === 'ours' ? oursCaller(kubeconfigPath) : await typedCaller(kubeconfigPath);
let connections = 0;
subscribe('net.client.socket', () => {
  connections += 1;
});

await caller.apply(0);
await makeCalls(caller, warmUpCalls, 1);
process.send?.('ready');
process.once('message', () => {
  void (async () => {
    // A pool keeps what it opened before: those connections are counted too.
    const before = client === 'ours' ? 0 : connections;
    const startedMs = performance.now();
    await makeCalls(caller, callsOfAKind, warmUpCalls + 1);
    const wallMs = performance.now() - startedMs;
    const report: CallerReport = {
      calls: 2 * callsOfAKind,
      wallMs,
      connections: connections - before,
    };
    process.send?.(report);
  })();
});
