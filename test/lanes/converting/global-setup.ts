// A lane on whose plane our kinds convert: it brings half of the functions along.
import type { TestProject } from 'vitest/node';
import { ConversionRig } from '../../integration/conversion/rig.ts';
import { applyManifests } from '../manifests/apply.ts';
import { startLane } from '../start-lane.ts';

export const setup = (project: TestProject): Promise<() => Promise<void>> =>
  startLane(project, async (plane) => {
    await applyManifests(plane);
    await ConversionRig.install(plane);
  });
