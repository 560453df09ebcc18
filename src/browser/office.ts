// Office Mode in a browser: what the page at `/office` runs.
import { startOffice } from './app/app.ts';

const place = document.getElementById('office');
if (place !== null) void startOffice(place);
