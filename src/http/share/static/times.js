// Shows times in the zone of whoever reads; the page has them in that of its setting.
const two = (value) => String(value).padStart(2, '0');

function wallTime(date) {
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

for (const time of document.querySelectorAll('time.moment')) {
  time.title = time.textContent;
  time.textContent = wallTime(new Date(time.dateTime));
}
for (const option of document.querySelectorAll('option[data-at]')) {
  option.textContent = option.textContent.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, wallTime(new Date(option.dataset.at)));
}
for (const zone of document.querySelectorAll('.zone')) {
  zone.textContent = `your time zone (${new Intl.DateTimeFormat().resolvedOptions().timeZone.replaceAll('_', ' ')})`;
}
