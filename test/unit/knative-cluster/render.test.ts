// Changes of Knative's manifests for a small cluster: images, order, settings.
import { describe, expect, test } from 'vitest';
import {
  ENVOY_IMAGE,
  componentImages,
} from '../../../knative/try/cluster/knative/component-images.ts';
import { gatewaysIn } from '../../../knative/try/cluster/knative/knative-settings.ts';
import { objectsIn } from '../../../knative/try/cluster/knative/module-config.ts';
import { renderKnative } from '../../../knative/try/cluster/knative/render.ts';
import type { Manifest } from '../../../shared/kube/objects.ts';

const namespaced = (kind: string, name: string, more: object = {}): Manifest => ({
  apiVersion: 'v1',
  kind,
  metadata: { name, namespace: 'knative-serving' },
  ...more,
});

const deployment = (container: object): Manifest =>
  namespaced('Deployment', 'webhook', {
    apiVersion: 'apps/v1',
    spec: { template: { spec: { containers: [container] } } },
  });

const GATEWAYS = gatewaysIn('10.213.128.0/17');
const base = (...objects: readonly Manifest[]): readonly Manifest[] =>
  renderKnative(objects, GATEWAYS).base;

describe('images', () => {
  test('stand in place of what is built from Go, wherever a manifest names it', () => {
    const [rendered] = base(
      deployment({
        image: 'ko://knative.dev/eventing/cmd/controller',
        env: [{ name: 'RA', value: 'ko://knative.dev/eventing/cmd/apiserver_receive_adapter' }],
      }),
    );
    expect(JSON.stringify(rendered)).toContain('"dev.local/knative/eventing-controller:v0.50.0"');
    const adapter = '"dev.local/knative/apiserver-receive-adapter:v0.50.0"';
    expect(JSON.stringify(rendered)).toContain(adapter);
  });

  test('of Envoy is ours, of whichever version the manifest wants it', () => {
    const [rendered] = base(deployment({ image: 'registry.test/envoyproxy/envoy:v1.36-latest' }));
    expect(JSON.stringify(rendered)).toContain(ENVOY_IMAGE);
  });

  test('have names of their own that Serving does not look up in a registry', () => {
    const names = componentImages.map(({ image }) => image);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^dev\.local\/[a-z/-]+:v\d+\.\d+\.\d+$/.test(name))).toEqual([]);
  });
});

describe('order', () => {
  test('is definitions, what Kubernetes knows, webhooks, and objects of the new kinds', () => {
    const objects = [
      { ...namespaced('Image', 'queue'), apiVersion: 'caching.internal.knative.dev/v1alpha1' },
      namespaced('ValidatingWebhookConfiguration', 'validation'),
      namespaced('Deployment', 'none', { spec: { template: { spec: { containers: [] } } } }),
      namespaced('ConfigMap', 'settings'),
      namespaced('ClusterRole', 'role'),
      namespaced('Namespace', 'knative-serving'),
      namespaced('CustomResourceDefinition', 'images'),
    ];
    const { definitions, base: first, webhooks, own } = renderKnative(objects, GATEWAYS);
    const kinds = [definitions, first, webhooks, own].map((stage) => stage.map(({ kind }) => kind));
    expect(kinds).toEqual([
      ['CustomResourceDefinition'],
      ['Namespace', 'ClusterRole', 'ConfigMap', 'Deployment'],
      ['ValidatingWebhookConfiguration'],
      ['Image'],
    ]);
  });

  test('leaves out what only a larger cluster needs', () => {
    const objects = [
      namespaced('HorizontalPodAutoscaler', 'webhook'),
      namespaced('PodDisruptionBudget', 'webhook'),
      namespaced('Deployment', 'job-sink'),
      namespaced('ServiceAccount', 'job-sink'),
    ];
    expect(base(...objects).map(({ kind }) => kind)).toEqual(['ServiceAccount']);
  });
});

describe('settings', () => {
  test('of the network name Kourier, and carry neither the example nor its checksum', () => {
    const map = namespaced('ConfigMap', 'config-network', { data: { _example: 'text' } });
    const metadata = { ...map.metadata, annotations: { 'knative.dev/example-checksum': 'ab12' } };
    const [rendered] = base({ ...map, metadata });
    expect(rendered?.['data']).toEqual({
      'ingress-class': 'kourier.ingress.networking.knative.dev',
    });
    expect(rendered?.metadata['annotations']).toEqual({});
  });

  test('of another map stay as they are', () => {
    const [rendered] = base(namespaced('ConfigMap', 'config-gc', { data: { keep: '1' } }));
    expect(rendered?.['data']).toEqual({ keep: '1' });
  });

  test('give the gateways addresses that are known beforehand', () => {
    const gateway = (name: string): Manifest => ({
      ...namespaced('Service', name),
      metadata: { name, namespace: 'kourier-system' },
      spec: { type: 'LoadBalancer', ports: [{ name: 'http2', port: 80 }] },
    });
    const specs = base(gateway('kourier'), gateway('kourier-internal')).map(({ spec }) => spec);
    const ports = [{ name: 'http2', port: 80 }];
    expect(specs).toEqual([
      { type: 'ClusterIP', clusterIP: '10.213.128.80', ports },
      { type: 'ClusterIP', clusterIP: '10.213.128.81', ports },
    ]);
  });
});

describe('a deployment', () => {
  test('has small requests, no limits, is asked often while it starts and forgiven much', () => {
    const [rendered] = base(
      deployment({
        image: 'any',
        resources: { requests: { cpu: '300m' }, limits: { cpu: '1' } },
        lifecycle: { preStop: { exec: { command: ['/bin/sh'] } } },
        readinessProbe: { initialDelaySeconds: 20, periodSeconds: 1, httpGet: { port: 1 } },
        livenessProbe: { initialDelaySeconds: 20, periodSeconds: 1, httpGet: { port: 1 } },
      }),
    );
    expect(rendered?.['spec']).toMatchObject({
      template: {
        spec: {
          terminationGracePeriodSeconds: 10,
          containers: [
            {
              resources: { requests: { cpu: '10m', memory: '32Mi' } },
              startupProbe: { periodSeconds: 1, failureThreshold: 600, httpGet: { port: 1 } },
              readinessProbe: { periodSeconds: 10, httpGet: { port: 1 } },
              livenessProbe: { periodSeconds: 10, failureThreshold: 6, httpGet: { port: 1 } },
            },
          ],
        },
      },
    });
    const text = JSON.stringify(rendered);
    for (const gone of ['limits', 'lifecycle', 'initialDelaySeconds']) {
      expect(text).not.toContain(gone);
    }
  });
});

describe('a file of a module', () => {
  test('that was a symlink is passed over', () => {
    expect(objectsIn('../core/100-namespace.yaml', 'link.yaml')).toEqual([]);
  });

  test('that is not YAML is named', () => {
    expect(() => objectsIn('a: [', 'broken.yaml')).toThrow('broken.yaml is not YAML');
  });

  test('may hold several objects, and comments where one could be', () => {
    const text = '# nothing\n---\napiVersion: v1\nkind: A\n---\napiVersion: v1\nkind: B\n';
    expect(objectsIn(text, 'two.yaml').map(({ kind }) => kind)).toEqual(['A', 'B']);
  });
});
