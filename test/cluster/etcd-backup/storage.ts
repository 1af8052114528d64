// The object storage of `npm run cluster -- --with-s3`, in a namespace of a test, and the client of
// that test.
import { extraPodArchive } from '../../../knative/try/cluster/extra-pod.ts';
import {
  BUCKET,
  endpointIn,
  KEYS,
  STORAGE,
  storageObjects,
} from '../../../knative/try/cluster/storage/objects.ts';
import { type Bucket, openBucket } from '../../../shared/s3/bucket.ts';
import { settingsFor } from '../../builders/posing-s3.ts';
import { until } from '../../builders/versioned-kind.ts';
import type { EtcdPodPlace } from '../etcd-cluster/pod-place.ts';

const SERVICES = { group: '', version: 'v1', resource: 'services' } as const;
const PODS = { group: '', version: 'v1', resource: 'pods' } as const;
const READY_WITHIN_MS = 60_000;

export interface Storage {
  /** For pods. */
  readonly endpoint: string;
  readonly bucket: Bucket;
  /** The uid of its own pod. */
  readonly podUid: string;
}

export async function startStorage(place: EtcdPodPlace, namespace: string): Promise<Storage> {
  await place.nodes.importImage(await extraPodArchive(STORAGE));
  const [pod, service] = storageObjects(namespace);
  const { metadata } = (await place.kube.create(PODS, pod)).object;
  const { object } = await place.kube.create(SERVICES, service);
  const { clusterIP, ports } = Object(object['spec']);
  const url = `http://${String(clusterIP)}:${Number(ports[0].port)}`;
  const given = { ...KEYS, sessionToken: undefined };
  const bucket = openBucket(BUCKET, settingsFor(url, { credentials: { given } }), {
    silenceMs: 2_000,
  });
  await untilItAnswers(bucket);
  return { endpoint: endpointIn(namespace), bucket, podUid: metadata.uid };
}

async function untilItAnswers(bucket: Bucket): Promise<void> {
  let last: unknown;
  const answers = async (): Promise<boolean> => {
    last = undefined;
    await bucket.list('').catch((error: unknown) => (last = error));
    return last === undefined;
  };
  await until('the storage to answer', answers, READY_WITHIN_MS).catch((cause: unknown) => {
    throw new Error(`it says ${String(last)}`, { cause });
  });
}
