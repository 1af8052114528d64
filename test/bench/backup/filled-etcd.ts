// An etcd of one member whose database has a size, in objects as large as those of Kubernetes are.
import { randomBytes } from 'node:crypto';
import { EtcdCluster } from '../../integration/etcd/cluster.ts';

const VALUE_BYTES = 6 * 1024;
/** etcd takes at most 128 in one transaction, and 1.5 MiB. */
const PUTS_AT_ONCE = 120;
const SENT_AT_ONCE = 4;

const base64 = (text: string): string => Buffer.from(text).toString('base64');

export async function startFilledEtcd(sizeBytes: number): Promise<EtcdCluster> {
  const flags = [`--quota-backend-bytes=${2 * sizeBytes}`];
  const etcd = await EtcdCluster.start(1, { flags });
  try {
    await fill(etcd.placeOf(0).endpoint.url, Math.ceil(sizeBytes / VALUE_BYTES));
    return etcd;
  } catch (error) {
    await etcd.stop();
    throw error;
  }
}

async function fill(url: string, keys: number): Promise<void> {
  let next = 0;
  const send = async (): Promise<void> => {
    while (next < keys) {
      const from = next;
      next = Math.min(keys, from + PUTS_AT_ONCE);
      await put(url, from, next);
    }
  };
  await Promise.all(Array.from({ length: SENT_AT_ONCE }, send));
}

async function put(url: string, from: number, to: number): Promise<void> {
  const success = Array.from({ length: to - from }, (_, index) => ({
    requestPut: {
      key: base64(`/registry/pods/shop/${from + index}`),
      value: randomBytes(VALUE_BYTES).toString('base64'),
    },
  }));
  const body = JSON.stringify({ success });
  const answer = await fetch(`${url}/v3/kv/txn`, { method: 'POST', body });
  if (!answer.ok) throw new Error(`etcd answered ${answer.status}: ${await answer.text()}`);
  await answer.arrayBuffer();
}
