// A lane on whose plane all that we ship is applied.
import type { TestProject } from 'vitest/node';
import { startLane } from '../start-lane.ts';
import { applyManifests } from './apply.ts';

export const setup = (project: TestProject): Promise<() => Promise<void>> =>
  startLane(project, applyManifests);
