// The rung that makes sure of every real part before a test needs it: each is found or built.

import { planePartNames } from '../../knative/local/parts/catalog.ts';
import { haveParts } from './have-parts.ts';

process.exitCode = await haveParts(planePartNames);
