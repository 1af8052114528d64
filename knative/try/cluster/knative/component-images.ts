// The images that Knative runs from on a cluster of our own making: which part is in each, and the
// name that stands for it in place of the one in Knative's manifests.
import { partEntry } from '../../local/parts/catalog.ts';
import type { PartName } from '../../local/parts/part-entry.ts';
import { ENVOY_VERSION } from './envoy.ts';

/** Serving asks no registry for the digest of an image with this prefix. */
const PREFIX = 'dev.local/knative';

const components = [
  'activator',
  'apiserver_receive_adapter',
  'auth-proxy',
  'autoscaler',
  'eventing-controller',
  'eventing-webhook',
  'imc-controller',
  'imc-dispatcher',
  'kourier',
  'mt-broker-controller',
  'mt-broker-filter',
  'mt-broker-ingress',
  'pingsource-mt-adapter',
  'queue-proxy',
  'serving-controller',
  'serving-webhook',
] as const satisfies readonly PartName[];

interface ComponentImage {
  readonly part: PartName;
  readonly image: string;
  /** Its name in Knative's manifests. */
  readonly standsFor: string;
}

export const componentImages: readonly ComponentImage[] = components.map((part) => {
  const entry = partEntry(part);
  return {
    part,
    // An image name has no underscores between its words.
    image: `${PREFIX}/${part.replaceAll('_', '-')}:${entry.version}`,
    standsFor: `ko://${entry.package}`,
  };
});

export const ENVOY_IMAGE = `${PREFIX}/envoy:v${ENVOY_VERSION}`;
const ENVOY_UPSTREAM = /^[^/]+\/envoyproxy\/envoy:/;

/** The name of the image here, for a text that is the name of an image there. */
export function localImage(text: string): string {
  if (ENVOY_UPSTREAM.test(text)) return ENVOY_IMAGE;
  return componentImages.find(({ standsFor }) => standsFor === text)?.image ?? text;
}
