// The real webhooks of Knative Eventing and Serving as processes beside a control plane: whatever
// is applied is defaulted and judged as in a cluster. They find the certificate that they serve
// with in the Secret where they would make one themselves, and the API server reaches them by URL.
// Their logs come to this process, so it must not block (spawnSync) while they work.
import { request } from 'node:https';
import { applyObjects } from '../../../knative/try/local/cluster/apply-objects.ts';
import { moduleConfig } from '../../../knative/try/cluster/knative/module-config.ts';
import { type PartName, resolvePart } from '../../../knative/try/local/parts/resolve.ts';
import { partsSettings } from '../../../knative/try/local/parts/settings.ts';
import type { PlaneAddress } from '../../../knative/try/local/plane/address.ts';
import type { PartSpec } from '../../../knative/try/local/process/part.ts';
import { freePort } from '../../../knative/try/local/process/ports.ts';
import { type KubeClient, openKube } from '../../../shared/kube/client.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';
import { Authority } from '../../../knative/try/local/plane/authority.ts';
import { startOwnPart } from '../../lanes/own-part.ts';

interface Webhook {
  readonly part: PartName;
  readonly namespace: string;
  readonly service: string;
  readonly secret: string;
  readonly groups: readonly string[];
}

const WEBHOOKS: readonly Webhook[] = [
  {
    part: 'eventing-webhook',
    namespace: 'knative-eventing',
    service: 'eventing-webhook',
    secret: 'eventing-webhook-certs',
    groups: ['eventing.knative.dev', 'sources.knative.dev'],
  },
  {
    part: 'serving-webhook',
    namespace: 'knative-serving',
    service: 'webhook',
    secret: 'webhook-certs',
    groups: ['serving.knative.dev'],
  },
];

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** Resolves when each answers, and the API server asks them. Their kinds are there. */
export async function startWebhooks(plane: PlaneAddress): Promise<void> {
  const { kubeconfigPath } = plane;
  const kube = openKube({ kubeconfigPath, userAgent: 'test', fieldManager: 'test' });
  const ca = new Authority('webhooks');
  const config = await moduleConfig(partsSettings());
  const namespaces = WEBHOOKS.map(({ namespace }) => namespace);
  const settings = config.filter(
    ({ kind, metadata }) => kind === 'ConfigMap' && namespaces.includes(metadata.namespace ?? ''),
  );
  const spaces = namespaces.map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  }));
  await apply(kube, [...spaces, ...settings]);
  await Promise.all(WEBHOOKS.map((webhook) => startWebhook(plane, kube, webhook, ca)));
  await kube.close();
}

const apply = (kube: KubeClient, objects: readonly Manifest[]): Promise<void> =>
  applyObjects(
    kube,
    objects.map((object) => ({ file: 'knative', object })),
  );

async function startWebhook(
  plane: PlaneAddress,
  kube: KubeClient,
  webhook: Webhook,
  ca: Authority,
): Promise<void> {
  const { secret: name, namespace } = webhook;
  const { certPem, keyPem } = ca.issue({ commonName: '127.0.0.1', hosts: ['127.0.0.1'] });
  const held = { 'server-key.pem': keyPem, 'server-cert.pem': certPem, 'ca-cert.pem': ca.certPem };
  const data = Object.fromEntries(
    Object.entries(held).map(([file, text]) => [file, base64(text)] as const),
  );
  await apply(kube, [{ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, data }]);
  const { url } = await startOwnPart(plane, await specOf(plane, webhook, ca));
  const reviews = { url, caBundle: base64(ca.certPem) };
  await apply(kube, [
    registration('MutatingWebhookConfiguration', webhook, { ...reviews, path: '/defaulting' }),
    registration('ValidatingWebhookConfiguration', webhook, {
      ...reviews,
      path: '/resource-validation',
    }),
  ]);
}

async function specOf(
  plane: PlaneAddress,
  { part, namespace, service }: Webhook,
  ca: Authority,
): Promise<PartSpec> {
  const port = await freePort();
  const url = `https://127.0.0.1:${port}`;
  return {
    name: part,
    command: await resolvePart(part),
    args: ['-kubeconfig', plane.kubeconfigPath],
    env: {
      SYSTEM_NAMESPACE: namespace,
      CONFIG_LOGGING_NAME: 'config-logging',
      METRICS_DOMAIN: 'knative.dev/test',
      WEBHOOK_NAME: service,
      WEBHOOK_PORT: String(port),
      POD_NAME: part,
      // Its webhook for all pods is not what is asked here.
      SINK_BINDING_SELECTION_MODE: 'inclusion',
    },
    url,
    ready: (signal) => isListening(url, ca.certPem, signal),
  };
}

function registration(
  kind: string,
  { part, groups }: Webhook,
  {
    url,
    path,
    caBundle,
  }: { readonly url: string; readonly path: string; readonly caBundle: string },
): Manifest {
  const name = `${part}.example.com`;
  const operations = ['CREATE', 'UPDATE'];
  const rules = [{ apiGroups: groups, apiVersions: ['*'], operations, resources: ['*'] }];
  const clientConfig = { url: `${url}${path}`, caBundle };
  const settings = { admissionReviewVersions: ['v1'], sideEffects: 'None', clientConfig, rules };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind,
    metadata: { name },
    webhooks: [{ name, ...settings }],
  };
}

/** Whatever it answers: a review waits inside until it has read what it needs. */
function isListening(url: string, ca: string, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    request(url, { ca, signal }, (response) => {
      response.resume();
      resolve(true);
    })
      .once('error', () => resolve(false))
      .end();
  });
}
