// The Knative objects of a test: its function, its broker, its triggers and its source, as small as
// the API server takes them.
import type { Manifest } from '../../../../shared/kube/objects.ts';
import { ECHO_IMAGE } from './echo-image.ts';

export interface EchoOptions {
  readonly namespace: string;
  readonly name: string;
  /** The answer to an event: nothing, an event, JSON, or a status. */
  readonly answer: 'nothing' | 'event' | 'json' | '500';
  /** Kept running from the start; 0 lets it go to zero as soon as Serving allows. */
  readonly minScale: 0 | 1;
}

/** The shortest that Serving takes, so that a test waits seconds for zero. */
const WINDOW = '6s';

export function echoService({ namespace, name, answer, minScale }: EchoOptions): Manifest {
  return {
    apiVersion: 'serving.knative.dev/v1',
    kind: 'Service',
    metadata: { namespace, name },
    spec: {
      template: {
        metadata: {
          annotations: {
            'autoscaling.knative.dev/min-scale': String(minScale),
            'autoscaling.knative.dev/max-scale': '1',
            'autoscaling.knative.dev/window': WINDOW,
          },
        },
        spec: {
          containers: [
            {
              image: ECHO_IMAGE,
              env: [{ name: 'ANSWER', value: answer }],
              ports: [{ containerPort: 8080 }],
              securityContext: {
                allowPrivilegeEscalation: false,
                runAsNonRoot: true,
                capabilities: { drop: ['ALL'] },
                seccompProfile: { type: 'RuntimeDefault' },
              },
            },
          ],
        },
      },
    },
  };
}

const refTo = (namespace: string, name: string): object => ({
  ref: { apiVersion: 'serving.knative.dev/v1', kind: 'Service', namespace, name },
});

export function broker(namespace: string, name: string): Manifest {
  return {
    apiVersion: 'eventing.knative.dev/v1',
    kind: 'Broker',
    metadata: { namespace, name },
    spec: {},
  };
}

export interface TriggerOptions {
  readonly namespace: string;
  readonly name: string;
  readonly broker: string;
  /** Exact attributes of the events that it takes. */
  readonly attributes: Readonly<Record<string, string>>;
  /** The service that gets them. */
  readonly subscriber: string;
  /** The service that gets those which the subscriber does not take. */
  readonly deadLetterSink?: string;
}

/** Enough tries to tell once from again, quick enough for a test. */
const DELIVERY = { retry: 2, backoffPolicy: 'linear', backoffDelay: 'PT0.2S' };

export function trigger(options: TriggerOptions): Manifest {
  const { namespace, name, attributes, subscriber, deadLetterSink } = options;
  const delivery =
    deadLetterSink === undefined
      ? DELIVERY
      : { ...DELIVERY, deadLetterSink: refTo(namespace, deadLetterSink) };
  return {
    apiVersion: 'eventing.knative.dev/v1',
    kind: 'Trigger',
    metadata: { namespace, name },
    spec: {
      broker: options.broker,
      filter: { attributes },
      subscriber: refTo(namespace, subscriber),
      delivery,
    },
  };
}

/** A source of ConfigMap events of its namespace, with the account and the rights it needs. */
export function configMapSource(namespace: string, name: string, sink: string): Manifest[] {
  const metadata = { namespace, name };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata,
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata,
      roleRef,
      subjects: [{ kind: 'ServiceAccount', namespace, name }],
    },
    {
      apiVersion: 'sources.knative.dev/v1',
      kind: 'ApiServerSource',
      metadata,
      spec: {
        mode: 'Reference',
        serviceAccountName: name,
        resources: [{ apiVersion: 'v1', kind: 'ConfigMap' }],
        sink: { ref: { apiVersion: 'eventing.knative.dev/v1', kind: 'Broker', name: sink } },
      },
    },
  ];
}
