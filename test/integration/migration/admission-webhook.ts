// A validating admission webhook that refuses to let one object be updated, with whatever number
// and word of HTTP it was told to say.
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import { json } from 'node:stream/consumers';
import type { Plane } from '../../../knative/local/plane/plane.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { isKubeError } from '../../../shared/kube/errors.ts';
import { GROUP, NAMESPACE, until, type VersionedKind } from '../../builders/versioned-kind.ts';

export interface Refusal {
  readonly name: string;
  readonly code: number;
  readonly reason: string;
}

const WEBHOOKS = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  resource: 'validatingwebhookconfigurations',
} as const;

interface Review {
  readonly request: { readonly uid: string; readonly name: string };
}

/** Returns when it is in force; what it answers ends that, and returns when it is not. */
export async function refuseAs(
  plane: Plane,
  kube: KubeClient,
  kind: VersionedKind,
  refusal: Refusal,
): Promise<() => Promise<void>> {
  const [cert, key] = await Promise.all([
    readFile(plane.caPath),
    readFile(plane.caPath.replace(/\.crt$/, '.key')),
  ]);
  const server = createServer({ cert, key }, (request, response) => {
    void json(request).then((review) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer(review as Review, refusal)));
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as { readonly port: number };
  await kube.create(WEBHOOKS, configuration(kind, `https://127.0.0.1:${port}/`, cert));
  const isRefused = () => isRefusedNow(kube, kind, refusal);
  await until(`updates of ${refusal.name} to be refused`, isRefused);
  return async () => {
    const anyway = { precondition: 'none', because: 'the test made it' } as const;
    await kube.delete(WEBHOOKS, { name: kind.crdName }, anyway);
    await until(`updates of ${refusal.name} to be taken`, async () => !(await isRefused()));
    server.closeAllConnections();
    server.close();
  };
}

function answer({ request: { uid, name } }: Review, refusal: Refusal) {
  const { code, reason } = refusal;
  const isRefused = name === refusal.name;
  const status = { code, reason, message: `${name} may not change` };
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid, allowed: !isRefused, ...(isRefused ? { status } : {}) },
  };
}

const configuration = ({ crdName, plural }: VersionedKind, url: string, cert: Buffer) => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingWebhookConfiguration',
  metadata: { name: crdName },
  webhooks: [
    {
      name: 'refuse.example.com',
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
      clientConfig: { url, caBundle: cert.toString('base64') },
      rules: [
        { apiGroups: [GROUP], apiVersions: ['*'], resources: [plural], operations: ['UPDATE'] },
      ],
    },
  ],
});

async function isRefusedNow(kube: KubeClient, kind: VersionedKind, { name }: Refusal) {
  const patch = { type: 'merge', body: { metadata: { labels: { refused: 'no' } } } } as const;
  const target = { namespace: NAMESPACE, name };
  try {
    await kube.patch(kind.ref(), target, patch, { dryRun: true, isOnce: true });
    return false;
  } catch (error) {
    if (isKubeError(error) && error.message.includes(`${name} may not change`)) return true;
    throw error;
  }
}
