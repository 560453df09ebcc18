// Every screen, by its name.
import { deskScreen } from '../desk/desk.ts';
import { floorScreen } from '../floor/floor.ts';
import type { ScreenName } from '../state/screens.ts';
import { todayScreen } from '../today/today.ts';
import type { Screen } from './screen.ts';

export const SCREENS: { readonly [N in ScreenName]: Screen<N> } = {
  floor: floorScreen,
  today: todayScreen,
  desk: deskScreen,
};
