// Knative's own ApiServerSource adapter, told what to watch by the source's manifest, in the words
// of Knative's controller.
import { get } from 'node:http';
import type { ApiServerSourceWiring, WatchedResource } from '../manifests/wiring.ts';
import type { PartSpec } from '../process/part.ts';

export interface AdapterOptions {
  readonly binary: string;
  /**
   * Access of the source's service account: the adapter sees only objects that its RBAC shows it.
   */
  readonly kubeconfigPath: string;
  readonly sinkUrl: string;
  /** Where it tells its goroutines, by which its readiness is known. */
  readonly profilingPort: number;
}

export function adapterPart(source: ApiServerSourceWiring, options: AdapterOptions): PartSpec {
  const { binary, kubeconfigPath, sinkUrl, profilingPort } = options;
  const { name, namespace, extensions } = source;
  const hasOverrides = Object.keys(extensions).length > 0;
  return {
    name: `adapter/${name}`,
    command: binary,
    args: [],
    env: {
      K_SINK: sinkUrl,
      K_SOURCE_CONFIG: JSON.stringify(sourceConfig(source)),
      ...(hasOverrides ? { K_CE_OVERRIDES: JSON.stringify({ extensions }) } : {}),
      KUBECONFIG: kubeconfigPath,
      NAME: name,
      NAMESPACE: namespace,
      SYSTEM_NAMESPACE: 'knative-eventing',
      METRICS_DOMAIN: 'knative.dev/eventing',
      K_LOGGING_CONFIG: '{}',
      K_OBSERVABILITY_CONFIG: JSON.stringify({ runtime: { profiling: 'enabled' } }),
      PROFILING_PORT: String(profilingPort),
    },
    url: '',
    // The probe port is 8080 for every adapter, taken or not, and says "ready" before the first
    // watch. So each watch has to be open: changes from then on become events.
    ready: async (signal) => {
      const [open, wanted] = [await openWatches(profilingPort, signal), watchCount(source)];
      if (open >= wanted) return true;
      throw new Error(`${open} of ${wanted} watches are open`);
    },
  };
}

function sourceConfig(source: ApiServerSourceWiring): unknown {
  const { namespaces, mode, owner, resources } = source;
  return {
    namespaces: namespaces ?? [''],
    allNamespaces: namespaces === undefined,
    resources: resources.map((resource) => ({
      gvr: gvrOf(resource),
      ...(resource.labelSelector === '' ? {} : { selector: resource.labelSelector }),
    })),
    ...(owner === undefined ? {} : { owner }),
    mode,
  };
}

function gvrOf({
  apiVersion,
  kind,
}: WatchedResource): Record<'Group' | 'Version' | 'Resource', string> {
  const [version = '', group = ''] = apiVersion.split('/').toReversed();
  return { Group: group, Version: version, Resource: guessedPlural(kind) };
}

/**
 * Knative guesses the plural and never asks the API server, so a kind with another one is never
 * watched.
 */
export function guessedPlural(kind: string): string {
  const singular = kind.toLowerCase();
  if (singular.endsWith('endpoints')) return singular;
  if (singular.endsWith('s')) return `${singular}es`;
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}

/**
 * A kind has one watch for each of several namespaces; the caller makes sure that none of these
 * kinds is cluster-scoped.
 */
function watchCount({ resources, namespaces }: ApiServerSourceWiring): number {
  return resources.length * (namespaces?.length ?? 1);
}

/** Goroutines of client-go that have listed and now follow a watch. */
async function openWatches(port: number, signal: AbortSignal): Promise<number> {
  const text = await fetchText(`http://127.0.0.1:${port}/debug/pprof/goroutine?debug=1`, signal);
  const stacks = text.split('\n\n').filter((stack) => stack.includes('cache.handleWatch+'));
  return stacks.reduce((sum, stack) => sum + Number(/^(\d+) @/m.exec(stack)?.[1] ?? 0), 0);
}

function fetchText(url: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { signal }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('end', () => resolve(text)).once('error', reject);
    }).once('error', reject);
  });
}
