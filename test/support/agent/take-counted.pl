# Takes what the kernel counts for each of its users, each thing until it is refused or the number wanted is there, and keeps it:
# `take-counted.pl NAME=MOST ... [HOLD]`. Prints a line for each: name, number, and the error; 0 for none. Then, with HOLD, makes the file
# `full` and waits for the file `stop`, for half a minute at most.
use strict;
use warnings;
my $x64 = (split ' ', `uname -m`)[0] eq 'x86_64';
my %call = (
  inotify_init1 => [294, 26], timer_create => [222, 107], mq_open => [240, 180], mlock => [149, 228],
  shmget => [29, 194], shmctl => [31, 195], eventfd2 => [290, 19], epoll_create1 => [291, 20], epoll_ctl => [233, 21], dup3 => [292, 24],
  close => [3, 57],
);
my $number = sub { $call{ $_[0] }[$x64 ? 0 : 1] };
my @kept;
my %take = (
  instances => sub { syscall($number->('inotify_init1'), 0) },
  signals => sub { my $id = pack 'q', 0; syscall($number->('timer_create'), 1, 0, $id) },
  queues => sub { my $name = "taken$$." . @kept; push @kept, $name; syscall($number->('mq_open'), $name, 0102, 0600, 0) },
  # Of 16 KB each.
  locked => sub {
    my $id = syscall($number->('shmget'), 0, 16384, 01600);
    $id < 0 ? $id : syscall($number->('shmctl'), $id, 11, 0);
  },
  processes => sub { my $child = fork; return -1 unless defined $child; if ($child == 0) { sleep 40; exit } push @kept, $child; $child },
  pipes => sub { pipe my $from, my $to or return -1; push @kept, $from, $to; 0 },
);
# Each file, under each of many numbers, in each set: few files make as many watches as wanted. They stay when the numbers are free again;
# those must be free before, so this is taken first.
sub watches {
  my @found = add_watches(@_);
  syscall($number->('close'), $_) for 400 .. 1000;
  return @found;
}
sub add_watches {
  my ($most) = @_;
  my $event = pack 'LQL', 1, 0, 0;
  my ($add, $again) = ($number->('epoll_ctl'), $number->('dup3'));
  my @sets = map { syscall($number->('epoll_create1'), 0) } 1 .. 200;
  my @files = map { syscall($number->('eventfd2'), 0, 0) } 1 .. 100;
  my $taken = 0;
  for my $file (@files) {
    for my $as (400 .. 1000) {
      syscall($again, $file, $as, 0);
      for my $set (@sets) {
        return ($taken, $! + 0) if syscall($add, $set, 1, $as, $event) < 0;
        return ($taken, 0) if ++$taken >= $most;
      }
    }
  }
  return ($taken, 0);
}
$| = 1;
my $hold = 0;
for my $wanted (@ARGV) {
  if ($wanted eq 'HOLD') { $hold = 1; next }
  my ($name, $most) = split '=', $wanted;
  my ($taken, $error) = (0, 0);
  if ($name eq 'watches') { ($taken, $error) = watches($most) }
  else {
    while ($taken < $most) {
      if ($take{$name}->() < 0) { $error = $! + 0; last }
      $taken++;
    }
  }
  print "$name $taken $error\n";
}
if ($hold) {
  open my $full, '>', 'full' or die "full: $!";
  for (1 .. 300) { last if -e 'stop'; select undef, undef, undef, 0.1 }
}
kill 'KILL', grep { /^\d+$/ } @kept;
