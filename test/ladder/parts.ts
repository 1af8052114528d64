// The rung that makes sure of every real part before a test needs it: each is found or built.

import { moduleConfig } from '../../knative/try/cluster/knative/module-config.ts';
import { planePartNames } from '../../knative/try/local/parts/catalog.ts';
import { partsSettings } from '../../knative/try/local/parts/settings.ts';
import { haveParts } from './have-parts.ts';

/** Of Knative: what the manifests are tried against. */
const judges = ['kn', 'eventing-webhook', 'serving-webhook'] as const;

process.exitCode = await haveParts([...planePartNames, ...judges], async (signal) => {
  // What Knative's modules say of its kinds, kept beside the parts.
  await moduleConfig(partsSettings(), signal);
});
