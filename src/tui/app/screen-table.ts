// Every screen, by its name.
import { deskScreen } from '../desk/desk.ts';
import { floorScreen } from '../floor/floor.ts';
import type { Screen } from '../screen/screen.ts';
import type { ScreenName } from '../state/screens.ts';
import { todayScreen } from '../today/today.ts';

export const SCREENS: { readonly [N in ScreenName]: Screen<N> } = {
  floor: floorScreen,
  today: todayScreen,
  desk: deskScreen,
};
